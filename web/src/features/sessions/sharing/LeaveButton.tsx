import { Trans, useLingui } from "@lingui/react/macro";
import { IconDoorExit } from "@tabler/icons-react";
import type { SessionDetail } from "@/api/types";
import { OwnButton } from "@/features/sessions/detail/OwnButton";
import { useLeaveSession } from "@/queries/session-shares";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";

/** Ends the user's own access to a session of another user; that of a project ends by its owner only. */
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
    <OwnButton
      variant="default"
      leftSection={<IconDoorExit size={16} aria-hidden />}
      refusal={
        session.may_leave
          ? null
          : t`It is shared with your project, not with you personally. Its owner can stop sharing it.`
      }
      onClick={ask}
    >
      <Trans>Leave…</Trans>
    </OwnButton>
  );
}
