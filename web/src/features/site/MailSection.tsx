import { Plural, Trans, useLingui } from "@lingui/react/macro";
import {
  Alert,
  Button,
  Group,
  NumberInput,
  PasswordInput,
  Select,
  SimpleGrid,
  Text,
  TextInput,
} from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useState } from "react";
import type { Site } from "@/api/types";
import { useMe } from "@/me/use-me";
import { useTestMail } from "@/queries/site";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { DefaultHint } from "./DefaultHint";
import type { SiteValues } from "./defaults";
import { BELOW, Section } from "./Section";

interface Props {
  form: UseFormReturnType<SiteValues>;
  site: Site;
  /** undefined: unchanged; null: remove. */
  password: string | null | undefined;
  onPassword: (password: string | null | undefined) => void;
}

/** The mail server, with a test. */
export function MailSection({ form, site, password, onPassword }: Props) {
  const { t } = useLingui();
  const encryption = [
    { value: "starttls", label: t`STARTTLS, usually port 587` },
    { value: "tls", label: t`TLS, usually port 465` },
    { value: "none", label: t`None (unencrypted)` },
  ];
  return (
    <Section title={t`Mail`} text={t`Used for password resets and e-mail verification.`}>
      {site.mail_error && (
        <Alert color="red" variant="light" title={t`The last mail was not sent`}>
          {site.mail_error}
          {site.mail_error_at && (
            <Text size="xs" c="dimmed">
              <Instant at={site.mail_error_at} />
            </Text>
          )}
        </Alert>
      )}
      {site.mail_waiting > 0 && (
        <Text size="sm">
          <Plural
            value={site.mail_waiting}
            one="# mail is waiting for a retry."
            other="# mails are waiting for a retry."
          />
        </Text>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput
          label={t`Mail server`}
          placeholder="smtp.example.org"
          description={<DefaultHint form={form} name="mail_host" text={<Trans>none: mail is off</Trans>} />}
          inputWrapperOrder={BELOW}
          {...form.getInputProps("mail_host")}
        />
        <NumberInput
          label={t`Port`}
          min={1}
          max={65_535}
          allowDecimal={false}
          description={<DefaultHint form={form} name="mail_port" text={587} />}
          inputWrapperOrder={BELOW}
          {...form.getInputProps("mail_port")}
          onChange={(port) => form.setFieldValue("mail_port", Number(port))}
        />
        <Select
          label={t`Encryption`}
          allowDeselect={false}
          data={encryption}
          description={<DefaultHint form={form} name="mail_tls" text="STARTTLS" />}
          inputWrapperOrder={BELOW}
          {...form.getInputProps("mail_tls")}
        />
        <TextInput
          label={t`From address`}
          placeholder="carrel@example.org"
          description={<DefaultHint form={form} name="mail_sender" text={<Trans>none</Trans>} />}
          inputWrapperOrder={BELOW}
          {...form.getInputProps("mail_sender")}
          value={form.values.mail_sender ?? ""}
          onChange={(event) => form.setFieldValue("mail_sender", event.currentTarget.value || null)}
        />
        <TextInput
          label={t`User name`}
          autoComplete="off"
          description={<DefaultHint form={form} name="mail_user" text={<Trans>none</Trans>} />}
          inputWrapperOrder={BELOW}
          {...form.getInputProps("mail_user")}
        />
        <PasswordInput
          data-path="mail_password"
          label={t`Mail server password`}
          autoComplete="new-password"
          placeholder={site.mail_password_set ? t`Set. It cannot be shown` : t`Not set`}
          visibilityToggleButtonProps={{ "aria-label": t`Show the password` }}
          value={password ?? ""}
          onChange={(event) => onPassword(event.currentTarget.value || undefined)}
          description={
            site.mail_password_set && password !== null ? (
              <Button size="compact-xs" variant="subtle" color="red" onClick={() => onPassword(null)}>
                <Trans>Remove</Trans>
              </Button>
            ) : password === null ? (
              <Trans>It is removed when you save.</Trans>
            ) : undefined
          }
          inputWrapperOrder={BELOW}
        />
      </SimpleGrid>
      <TestMail />
    </Section>
  );
}

/** Sends a test e-mail with the saved settings. */
function TestMail() {
  const { t } = useLingui();
  const me = useMe();
  const test = useTestMail();
  const [to, setTo] = useState(me.user.email);
  return (
    <>
      <Group align="flex-end" gap="xs">
        <TextInput
          style={{ flex: 1 }}
          label={t`Send test mail to`}
          description={t`Uses the saved settings.`}
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate(to)}>
          <Trans>Send</Trans>
        </Button>
      </Group>
      {test.error && <ProblemAlert problem={test.error} />}
      {test.data &&
        (test.data.sent ? (
          <Alert color="lamp" variant="light" role="status">
            <Trans>The mail server accepted it.</Trans>
          </Alert>
        ) : (
          <Alert color="red" variant="light" role="alert" title={t`The test mail could not be sent`}>
            {test.data.error}
          </Alert>
        ))}
    </>
  );
}
