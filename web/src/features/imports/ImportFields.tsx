import { Trans, useLingui } from "@lingui/react/macro";
import { SegmentedControl, Select, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { Problem } from "@/api/problem";
import type { Folder } from "@/api/types";
import { IMPORT_KINDS, type ImportLink } from "@/routing/import-link";
import type { ChangeAddress } from "@/routing/use-address";
import { useProblemText } from "@/sentences/use-problem-text";
import { CredentialFields } from "@/ui/form/CredentialFields";
import { KIND_NAMES } from "./words";

interface Props {
  link: ImportLink;
  onChange: ChangeAddress<ImportLink>;
  folders: readonly Folder[];
  /** A folder is to be chosen, which is part of the address then. */
  intoFolder: boolean;
  onIntoFolder: (into: boolean) => void;
  problem: Problem | null;
  secret: string;
  onSecret: (secret: string) => void;
}

/** What to import, and where to. */
export function ImportFields({ link, onChange, problem, secret, onSecret, ...props }: Props) {
  const { folders, intoFolder, onIntoFolder } = props;
  const { t, i18n } = useLingui();
  const problemText = useProblemText();
  const errorOf = (field: string) => (problem?.field === field ? problemText(problem).detail : undefined);
  return (
    <Stack gap="sm">
      <RestingInput
        label={t`Address`}
        description={t`Of a notebook, a Git repository, Hugging Face, or an archive, as the browser shows it.`}
        placeholder="https://github.com/octocat/Hello-World"
        type="url"
        value={link.url}
        error={errorOf("url")}
        onRest={(url) => onChange({ url }, true)}
      />
      <Select
        label={t`Type`}
        data={[
          { value: "", label: t`Recognized by the address` },
          ...IMPORT_KINDS.map((kind) => ({ value: kind as string, label: i18n._(KIND_NAMES[kind]) })),
        ]}
        allowDeselect={false}
        value={link.kind ?? ""}
        onChange={(value) => onChange({ kind: IMPORT_KINDS.find((kind) => kind === value) }, true)}
      />
      <RestingInput
        label={t`Branch, tag or commit`}
        placeholder={t`Default branch`}
        value={link.ref}
        error={errorOf("ref")}
        onRest={(ref) => onChange({ ref }, true)}
      />
      <RestingInput
        label={t`File or directory`}
        placeholder={t`All of it`}
        value={link.path}
        error={errorOf("path")}
        onRest={(path) => onChange({ path }, true)}
      />
      <div>
        <Text size="sm" fw={500} id="import-target">
          <Trans>Fetch into</Trans>
        </Text>
        <SegmentedControl
          aria-labelledby="import-target"
          mt={4}
          fullWidth
          data={[
            { value: "session", label: t`New session` },
            { value: "folder", label: t({ context: "import", message: "Folder" }) },
          ]}
          value={intoFolder ? "folder" : "session"}
          onChange={(value) => {
            onIntoFolder(value === "folder");
            if (value === "session") onChange({ folder: undefined }, true);
            else onChange({ install: undefined }, true);
          }}
        />
      </div>
      {intoFolder ? (
        <Select
          label={t`Folder`}
          description={t`A batch session mounts it, fetches the source and ends.`}
          searchable
          placeholder={t`Choose a folder`}
          data={folders.map(({ id, name }) => ({ value: id, label: name }))}
          value={link.folder ?? null}
          error={errorOf("folder")}
          onChange={(folder) => onChange({ folder: folder ?? undefined }, true)}
        />
      ) : (
        <Switch
          label={t`Install requirements`}
          description={t`Of requirements.txt, environment.yml or pyproject.toml, into the Python of the image.`}
          checked={link.install === true}
          onChange={(event) => onChange({ install: event.currentTarget.checked || undefined }, true)}
        />
      )}
      <CredentialFields
        kind={link.credentials ?? ""}
        onKind={(kind) => onChange({ credentials: kind || undefined }, true)}
        kindError={errorOf("credentials")}
        secret={secret}
        onSecret={onSecret}
        descriptions={{
          token: t`Or user:password. A variable of this session only, encrypted.`,
          key: t`Without a passphrase. A variable of this session only, encrypted.`,
        }}
      />
    </Stack>
  );
}

const REST_MS = 300;

interface RestingProps {
  label: string;
  description?: string;
  placeholder: string;
  type?: "text" | "url";
  value: string | undefined;
  error: string | undefined;
  onRest: (value: string | undefined) => void;
}

/** A text that is taken when one stops typing. */
function RestingInput({ value = "", onRest, ...input }: RestingProps) {
  const [text, setText] = useState(value);
  const rest = useRef(onRest);
  rest.current = onRest;
  // Also Back and links change the address.
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    const taken = text.trim();
    if (taken === value) return;
    const timer = setTimeout(() => rest.current(taken || undefined), REST_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <TextInput
      {...input}
      autoComplete="off"
      spellCheck={false}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
    />
  );
}
