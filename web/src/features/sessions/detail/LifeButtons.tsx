import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Popover, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { IconClockPlus, IconPlayerPlay, IconRefresh, IconTemplate } from "@tabler/icons-react";
import { useState } from "react";
import { hasEnded } from "@/api/session-states";
import type { Session, SessionDetail } from "@/api/types";
import { useSessionActions } from "@/features/sessions/use-actions";
import { SaveTemplateDialog } from "@/features/templates/SaveTemplateForm";
import { useExtendSession, useRestartSession, useStartAgain } from "@/queries/session-life";
import { useProblemText } from "@/sentences/use-problem-text";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { DurationInput } from "@/ui/form/DurationInput";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { OwnButton } from "./OwnButton";

/** Starts another session with the present definition of this one, and shows it. */
export function AgainButton({ session }: { session: SessionDetail }) {
  const { t } = useLingui();
  const actions = useSessionActions();
  const again = useStartAgain();
  const problemText = useProblemText();
  const start = () =>
    again.mutate(session.id, {
      onSuccess: (made) => void actions.showDetail(made.id),
      onError: (problem) => {
        const { detail, hint } = problemText(problem);
        notifications.show({
          color: "red",
          title: t`Could not start ${session.name} again`,
          message: [detail, hint].filter(Boolean).join(" "),
        });
      },
    });
  return (
    <OwnButton
      refusal={actions.ownerOnly(session)}
      variant="default"
      leftSection={<IconPlayerPlay size={16} aria-hidden />}
      onClick={start}
    >
      <Trans>Start again</Trans>
    </OwnButton>
  );
}

/** Restarts a running interactive session in place. */
export function RestartButton({ session }: { session: SessionDetail }) {
  const { t } = useLingui();
  const { mutateAsync: restart } = useRestartSession();
  const { whyNotChange } = useSessionActions();
  if (session.state !== "RUNNING" || session.kind !== "interactive") return null;
  if (whyNotChange(session) !== null) return null;
  const ask = () =>
    askToConfirm({
      title: t`Restart session`,
      closeLabel: t`Close`,
      confirm: t`Restart`,
      command: commandLine("carrel", "session", "restart", session.id),
      onConfirm: () => restart(session.id),
      children: (
        <Trans>
          Restarts <b>{session.name}</b> with a new container on the same node. It keeps its resources and
          folders; all programs stop, and files outside mounted folders are deleted.
        </Trans>
      ),
    });
  return (
    <Button size="xs" variant="default" leftSection={<IconRefresh size={16} aria-hidden />} onClick={ask}>
      <Trans>Restart…</Trans>
    </Button>
  );
}

/** Extends the time limit of a live session that has one. */
export function ExtendButton({ session }: { session: Session }) {
  const { t } = useLingui();
  const [opened, { toggle, close }] = useDisclosure(false);
  const [more, setMore] = useState(3600);
  const extend = useExtendSession();
  const { whyNotChange } = useSessionActions();
  const limit = session.time_limit_s;
  if (limit === null || hasEnded(session.state) || session.state === "TERMINATING") return null;
  if (whyNotChange(session) !== null) return null;
  return (
    <Popover opened={opened} onChange={close} trapFocus withArrow shadow="md" width={300}>
      <Popover.Target>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconClockPlus size={16} aria-hidden />}
          onClick={toggle}
        >
          <Trans>Extend…</Trans>
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (more > 0) extend.mutate({ id: session.id, time_limit_s: limit + more }, { onSuccess: close });
          }}
        >
          <Stack gap="xs">
            <DurationInput
              label={t`Extend the time limit by`}
              value={more}
              units={["m", "h", "d"]}
              onChange={setMore}
            />
            {extend.error && <ProblemAlert problem={extend.error} />}
            <Group justify="flex-end">
              <Button size="xs" type="submit" loading={extend.isPending} disabled={more <= 0}>
                <Trans>Extend</Trans>
              </Button>
            </Group>
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}

/** Saves the definition of an own session as a template. */
export function SaveTemplateButton({ session }: { session: SessionDetail }) {
  const actions = useSessionActions();
  const [saving, { open, close }] = useDisclosure(false);
  const source = { from: session.id, name: session.array?.name ?? session.name };
  return (
    <>
      <OwnButton
        refusal={actions.ownerOnly(session)}
        variant="default"
        leftSection={<IconTemplate size={16} aria-hidden />}
        onClick={open}
      >
        <Trans>Save as template…</Trans>
      </OwnButton>
      <SaveTemplateDialog source={saving ? source : undefined} onClose={close} />
    </>
  );
}
