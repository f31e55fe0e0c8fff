import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Code, Group, Skeleton, Stack, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { SessionDetail } from "@/api/types";
import type { SessionActions } from "@/features/sessions/use-actions";
import { appsListQuery } from "@/queries/apps";
import { openFormDialog } from "@/ui/form/FormDialog";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { AppPanel } from "./AppPanel";
import { OpenPortForm } from "./OpenPortForm";
import { OwnButton } from "./OwnButton";

/** The apps of a session: start, open and stop them, and open ports. */
export function AppsTab({ session, actions }: { session: SessionDetail; actions: SessionActions }) {
  const { t } = useLingui();
  const apps = useQuery(appsListQuery(session.id));
  if (apps.isPending) return <Skeleton height={120} />;
  if (apps.isError) return <ProblemAlert problem={apps.error} onRetry={() => void apps.refetch()} />;
  const refusal = session.state === "RUNNING" ? actions.whyNotUse(session) : t`The session is not running.`;
  const { items, layer_missing: lacking } = apps.data;
  const present = items.filter(({ state }) => state !== "missing");
  const missing = items.filter(({ state }) => state === "missing");
  const openPort = () =>
    openFormDialog({
      title: t`Open a port`,
      form: (close) => <OpenPortForm session={session} onDone={close} />,
    });
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          <Plural value={present.length} one="# app" other="# apps" />
        </Text>
        <OwnButton
          variant="default"
          refusal={refusal}
          leftSection={<IconPlus size={15} aria-hidden />}
          onClick={openPort}
        >
          <Trans>Open a port</Trans>
        </OwnButton>
      </Group>
      {lacking && (
        <Text size="sm" c="dimmed">
          <Trans>Without the app layer: {lacking}</Trans>
        </Text>
      )}
      {present.map((app) => (
        <AppPanel key={app.name} session={session} app={app} actions={actions} refusal={refusal} />
      ))}
      {missing.length > 0 && (
        <details>
          <summary>
            <Plural
              value={missing.length}
              one="# app that this session’s image does not have"
              other="# apps that this session’s image does not have"
            />
          </summary>
          <Stack gap={4} mt="xs">
            {missing.map(({ name, title, hint }) => (
              <Group key={name} gap="xs">
                <Text size="sm">{title}</Text>
                {hint && <Code>{hint}</Code>}
              </Group>
            ))}
          </Stack>
        </details>
      )}
    </Stack>
  );
}
