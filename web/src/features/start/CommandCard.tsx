import { Trans, useLingui } from "@lingui/react/macro";
import { Stack, Text, Title } from "@mantine/core";
import { CommandLine } from "@/ui/CommandLine";
import { shellQuote } from "@/ui/command";
import panel from "@/ui/Panel.module.css";

interface Props {
  email: string;
  /** Name of a running session. */
  running: string | undefined;
}

/** The same from the command line. */
export function CommandCard({ email, running }: Props) {
  const { t } = useLingui();
  const name = running ?? "NAME";
  return (
    <section className={panel.panel} aria-label={t`Command line`}>
      <Stack gap="xs">
        <Title order={2} size="h4">
          <Trans>Command line</Trans>
        </Title>
        <Text size="sm" c="dimmed">
          <Trans>You can do everything on this site from the command line too.</Trans>
        </Text>
        <Text size="sm" fw={500} mt="xs">
          <Trans>Sign in once</Trans>
        </Text>
        <CommandLine text={`carrel login ${location.origin} --email ${shellQuote(email)}`} />
        <Text size="sm" fw={500} mt="xs">
          <Trans>Start a session and wait until it is running</Trans>
        </Text>
        <CommandLine text="carrel session create --image starter --cpu 1 --mem 1g --wait" />
        <Text size="sm" fw={500} mt="xs">
          {running ? <Trans>Open a terminal in it</Trans> : <Trans>Open a terminal in it by name</Trans>}
        </Text>
        <CommandLine text={`carrel session terminal ${name}`} />
        <CommandLine text={`carrel app open ${name} jupyter`} />
      </Stack>
    </section>
  );
}
