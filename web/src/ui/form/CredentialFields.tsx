import { useLingui } from "@lingui/react/macro";
import { PasswordInput, Select, Textarea } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  /** What opens the source; "": nothing is needed. */
  kind: "" | "token" | "key";
  onKind: (kind: Props["kind"]) => void;
  kindError?: ReactNode;
  secret: string;
  onSecret: (secret: string) => void;
  secretError?: ReactNode;
  descriptions: { token: string; key: string };
  required?: boolean;
}

/** Whether a source needs an access token or an SSH key, and which. */
export function CredentialFields(props: Props) {
  const { kind, onKind, kindError, secret, onSecret, secretError, descriptions, required } = props;
  const { t } = useLingui();
  const input = {
    withAsterisk: required,
    autoComplete: "off",
    value: secret,
    error: secretError,
    onChange: (event: { currentTarget: { value: string } }) => onSecret(event.currentTarget.value),
  };
  return (
    <>
      <Select
        label={t`Private source`}
        data={[
          { value: "", label: t`No, everybody can read it` },
          { value: "token", label: t`Access token` },
          { value: "key", label: t`SSH key, such as a deploy key` },
        ]}
        allowDeselect={false}
        value={kind}
        error={kindError}
        onChange={(value) => {
          onSecret("");
          onKind(value === "token" || value === "key" ? value : "");
        }}
      />
      {kind === "token" && <PasswordInput label={t`Token`} description={descriptions.token} {...input} />}
      {kind === "key" && (
        <Textarea
          label={t`Private key`}
          description={descriptions.key}
          spellCheck={false}
          rows={4}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          {...input}
        />
      )}
    </>
  );
}
