import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Group, Menu, Text } from "@mantine/core";
import { IconDots, IconExternalLink, IconPlayerPlay } from "@tabler/icons-react";
import { useState } from "react";
import type { SessionApp, SessionDetail } from "@/api/types";
import type { SessionActions } from "@/features/sessions/use-actions";
import { useRemoveApp, useStartApp, useStopApp } from "@/queries/apps";
import { AppSymbol } from "@/ui/AppSymbol";
import { CommandLine } from "@/ui/CommandLine";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { openFormDialog } from "@/ui/form/FormDialog";
import panel from "@/ui/Panel.module.css";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { AppLogPanel } from "./AppLogPanel";
import { AppOptionsForm } from "./AppOptionsForm";
import { AppStateBadge } from "./AppStateBadge";
import { OwnButton } from "./OwnButton";

interface Props {
  session: SessionDetail;
  app: SessionApp;
  actions: SessionActions;
  /** Why the user may not use it; null if they may. */
  refusal: string | null;
}

/** One app of a session. */
export function AppPanel({ session, app, actions, refusal }: Props) {
  const { t } = useLingui();
  const [busy, setBusy] = useState(false);
  const [log, setLog] = useState(false);
  const start = useStartApp();
  const stop = useStopApp();
  const remove = useRemoveApp();
  const ref = { id: session.id, app: app.name };
  const isPort = app.kind === null;
  const chosen = app.options.filter(({ name }) => app.chosen[name]);
  const verb = app.protocol === "http" ? "open" : "forward";
  const runs = app.running || app.state === "starting" || app.state === "unreachable";
  const open = async () => {
    setBusy(true);
    await actions.openApp(session, app);
    setBusy(false);
  };
  const choose = (another: boolean) =>
    openFormDialog({
      title: another ? t`Start another ${app.title}` : t`Start ${app.title}`,
      form: (close) => <AppOptionsForm session={session} app={app} another={another} onDone={close} />,
    });
  const removal = () =>
    askToConfirm({
      title: isPort ? t`Close port` : t`Remove app`,
      closeLabel: t`Close`,
      confirm: isPort ? t`Close port` : t`Remove`,
      command: commandLine("carrel", "app", "rm", session.id, app.name),
      onConfirm: () => remove.mutateAsync(ref),
      children: isPort ? (
        <Trans>
          Closes <b>{app.title}</b>. Its program keeps running.
        </Trans>
      ) : (
        <Trans>
          Stops <b>{app.title}</b> and forgets its options. What it has not saved is lost.
        </Trans>
      ),
    });
  return (
    <section className={panel.panel} aria-label={app.title}>
      <Group justify="space-between" mb="xs">
        <Group gap="xs">
          <AppSymbol name={app.icon} />
          <Text fw={600}>{app.title}</Text>
          <AppStateBadge app={app} />
        </Group>
        <Group gap={4} ml="auto">
          {app.protocol === "http" ? (
            <OwnButton
              refusal={refusal}
              loading={busy}
              rightSection={<IconExternalLink size={15} aria-hidden />}
              onClick={() => void open()}
            >
              <Trans>Open in a new tab</Trans>
            </OwnButton>
          ) : (
            !isPort && (
              <OwnButton
                refusal={refusal}
                loading={start.isPending}
                leftSection={<IconPlayerPlay size={15} aria-hidden />}
                onClick={() => start.mutate(ref)}
              >
                <Trans>Start</Trans>
              </OwnButton>
            )
          )}
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" aria-label={t`More about ${app.title}`}>
                <IconDots size={16} aria-hidden />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              {!isPort && app.options.length > 0 && !runs && (
                <Menu.Item disabled={refusal !== null} onClick={() => choose(false)}>
                  <Trans>Start with options</Trans>
                </Menu.Item>
              )}
              {!isPort && (
                <Menu.Item disabled={refusal !== null} onClick={() => choose(true)}>
                  <Trans>Start another one</Trans>
                </Menu.Item>
              )}
              {!isPort && (
                <Menu.Item onClick={() => setLog(!log)}>{log ? t`Hide log` : t`Show log`}</Menu.Item>
              )}
              {!isPort && runs && (
                <Menu.Item disabled={refusal !== null} onClick={() => stop.mutate(ref)}>
                  <Trans>Stop</Trans>
                </Menu.Item>
              )}
              {app.removable && (
                <Menu.Item color="red" disabled={refusal !== null} onClick={removal}>
                  {isPort ? t`Close port` : t`Remove`}
                </Menu.Item>
              )}
            </Menu.Dropdown>
          </Menu>
        </Group>
      </Group>
      {chosen.length > 0 && (
        <Text size="sm" c="dimmed" mb="xs" style={{ overflowWrap: "anywhere" }}>
          {chosen.map(({ name, title }) => `${title}: ${app.chosen[name]}`).join(" · ")}
        </Text>
      )}
      {(start.error ?? stop.error) && <ProblemAlert problem={start.error ?? stop.error} />}
      {(log || app.state === "failed") && session.state === "RUNNING" && (
        <AppLogPanel session={session} app={app} />
      )}
      <CommandLine text={commandLine("carrel", "app", verb, session.id, app.name)} />
    </section>
  );
}
