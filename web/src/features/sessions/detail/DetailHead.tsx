import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Group, Text, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import {
  IconCopyPlus,
  IconNotebook,
  IconPencil,
  IconShare,
  IconTerminal2,
  IconTrash,
} from "@tabler/icons-react";
import { hasEnded } from "@/api/session-states";
import type { SessionDetail } from "@/api/types";
import { ProgressLine } from "@/features/sessions/ProgressLine";
import { SessionBadge } from "@/features/sessions/SessionBadge";
import { LeaveButton } from "@/features/sessions/sharing/LeaveButton";
import { useSessionActions } from "@/features/sessions/use-actions";
import { useSessionText } from "@/sentences/use-session-text";
import { AgainButton, ExtendButton, RestartButton, SaveTemplateButton } from "./LifeButtons";
import { OwnButton } from "./OwnButton";
import { RenameForm } from "./RenameForm";
import { ResizeButton } from "./ResizeButton";
import { SaveEnvironmentButton } from "./SaveEnvironmentButton";

/** The state with its reason and progress, and renaming. */
export function SessionStatus({ session }: { session: SessionDetail }) {
  const { t } = useLingui();
  const [renaming, rename] = useDisclosure(false);
  const sessionText = useSessionText();
  const { whyNotChange } = useSessionActions();
  const ended = hasEnded(session.state);
  return (
    <>
      <Group gap="xs">
        <SessionBadge state={session.state} result={session.result} />
        {ended && session.state !== "ERROR" && session.reason && (
          <Text size="sm" c="dimmed">
            {sessionText.reason(session.reason)}
          </Text>
        )}
        {!renaming && whyNotChange(session) === null && (
          <Tooltip label={t`Rename`}>
            <ActionIcon variant="subtle" color="gray" size="sm" aria-label={t`Rename`} onClick={rename.open}>
              <IconPencil size={15} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
      </Group>
      {renaming && <RenameForm session={session} onDone={rename.close} />}
      {session.state !== "PENDING" && <ProgressLine session={session} />}
    </>
  );
}

/** The available actions. */
export function SessionButtons({
  session,
  onShare,
  onLeft,
}: {
  session: SessionDetail;
  onShare: () => void;
  onLeft: () => void;
}) {
  const actions = useSessionActions();
  const notUsable = actions.whyNotUse(session);
  const notChangeable = actions.whyNotChange(session);
  const running = session.state === "RUNNING";
  const ended = hasEnded(session.state);
  const jupyter = session.apps?.find((app) => app.name === "jupyter");
  return (
    <>
      {running && (
        <>
          <OwnButton
            refusal={notUsable}
            leftSection={<IconTerminal2 size={16} aria-hidden />}
            onClick={() => void actions.openTerminal(session.id)}
          >
            <Trans>Terminal</Trans>
          </OwnButton>
          {jupyter && (
            <OwnButton
              refusal={notUsable}
              variant="light"
              leftSection={<IconNotebook size={16} aria-hidden />}
              onClick={() => void actions.openApp(session, jupyter)}
            >
              {jupyter.title}
            </OwnButton>
          )}
        </>
      )}
      {notChangeable === null && (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconShare size={16} aria-hidden />}
          onClick={onShare}
        >
          <Trans>Share…</Trans>
        </Button>
      )}
      <LeaveButton session={session} onLeft={onLeft} />
      <RestartButton session={session} />
      <ExtendButton session={session} />
      <ResizeButton session={session} />
      {ended && <AgainButton session={session} />}
      <Button
        size="xs"
        variant="default"
        leftSection={<IconCopyPlus size={16} aria-hidden />}
        onClick={() => void actions.startAgain(session.id)}
      >
        <Trans>Start a similar session</Trans>
      </Button>
      <SaveTemplateButton session={session} />
      <SaveEnvironmentButton session={session} />
      {!ended && (
        <OwnButton
          refusal={notChangeable}
          variant="subtle"
          color="red"
          leftSection={<IconTrash size={16} aria-hidden />}
          onClick={() => actions.terminate([session])}
        >
          <Trans>Terminate…</Trans>
        </OwnButton>
      )}
    </>
  );
}
