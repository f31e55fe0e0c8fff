import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Skeleton, Stack, Text } from "@mantine/core";
import { IconExternalLink } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { SessionApp, SessionDetail } from "@/api/types";
import type { SessionActions } from "@/features/sessions/use-actions";
import { appsListQuery } from "@/queries/apps";
import { CommandLine } from "@/ui/CommandLine";
import { EmptyState } from "@/ui/EmptyState";
import panel from "@/ui/Panel.module.css";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { StateBadge } from "@/ui/StateBadge";
import { OwnButton } from "./OwnButton";

/** The apps of a session, each with a button to open it. */
export function AppsTab({ session, actions }: { session: SessionDetail; actions: SessionActions }) {
  const { t } = useLingui();
  const apps = useQuery(appsListQuery(session.id));
  const [opening, setOpening] = useState<string | null>(null);
  if (apps.isPending) return <Skeleton height={120} />;
  if (apps.isError) return <ProblemAlert problem={apps.error} onRetry={() => void apps.refetch()} />;
  if (apps.data.length === 0) {
    return <EmptyState title={t`This image has no apps`} text={t`You can still open a terminal.`} />;
  }
  const refusal = session.state === "RUNNING" ? actions.whyNotUse(session) : t`The session is not running.`;
  const open = async (app: SessionApp) => {
    setOpening(app.name);
    await actions.openApp(session, app);
    setOpening(null);
    void apps.refetch();
  };
  return (
    <Stack gap="sm">
      {apps.data.map((app) => (
        <section key={app.name} className={panel.panel} aria-label={app.title}>
          <Group justify="space-between" mb="xs">
            <Group gap="xs">
              <Text fw={600}>{app.title}</Text>
              <StateBadge look={app.running ? "ok" : "off"}>
                {app.running ? <Trans>started</Trans> : <Trans>starts on open</Trans>}
              </StateBadge>
            </Group>
            <OwnButton
              refusal={refusal}
              loading={opening === app.name}
              rightSection={<IconExternalLink size={15} aria-hidden />}
              onClick={() => void open(app)}
            >
              <Trans>Open in a new tab</Trans>
            </OwnButton>
          </Group>
          <CommandLine text={`carrel app open ${session.id} ${app.name}`} />
        </section>
      ))}
    </Stack>
  );
}
