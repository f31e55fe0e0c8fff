import { Trans, useLingui } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { IconDoorExit } from "@tabler/icons-react";
import type { SessionDetail } from "@/api/types";
import { useLeaveSession } from "@/queries/session-shares";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";

/** Ends the user's own access to a session of another user. */
export function LeaveButton({ session, onLeft }: { session: SessionDetail; onLeft: () => void }) {
  const { t } = useLingui();
  const { mutateAsync: leave } = useLeaveSession();
  if (session.shared_as === null) return null;
  const ask = () =>
    askToConfirm({
      title: t`Leave session`,
      closeLabel: t`Close`,
      confirm: t`Leave`,
      command: commandLine("carrel", "session", "leave", session.id),
      onConfirm: async () => {
        await leave(session.id);
        onLeft();
      },
      children: (
        <Trans>
          You lose access to <b>{session.name}</b> until it is shared with you again. Your open apps and
          terminals in it are closed. Shares with your projects remain.
        </Trans>
      ),
    });
  return (
    <Button size="xs" variant="default" leftSection={<IconDoorExit size={16} aria-hidden />} onClick={ask}>
      <Trans>Leave…</Trans>
    </Button>
  );
}
