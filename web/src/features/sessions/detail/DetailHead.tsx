import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Group, Text, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconNotebook, IconPencil, IconPlayerPlay, IconTerminal2, IconTrash } from "@tabler/icons-react";
import { hasEnded } from "@/api/session-states";
import type { SessionDetail } from "@/api/types";
import { ProgressLine } from "@/features/sessions/ProgressLine";
import { StateBadge } from "@/features/sessions/StateBadge";
import type { SessionActions } from "@/features/sessions/use-actions";
import { useSessionText } from "@/sentences/use-session-text";
import { OwnButton } from "./OwnButton";
import { RenameForm } from "./RenameForm";

/** The state with its reason, and the available actions. */
export function DetailHead({ session, actions }: { session: SessionDetail; actions: SessionActions }) {
  const { t } = useLingui();
  const [renaming, rename] = useDisclosure(false);
  const sessionText = useSessionText();
  const notMine = actions.ownerOnly(session);
  const running = session.state === "RUNNING";
  const ended = hasEnded(session.state);
  const jupyter = session.apps?.find((app) => app.name === "jupyter");
  return (
    <div style={{ paddingBottom: "0.75rem" }}>
      <Group gap="xs" mb="sm">
        <StateBadge state={session.state} />
        {ended && session.state !== "ERROR" && session.reason && (
          <Text size="sm" c="dimmed">
            {sessionText.reason(session.reason)}
          </Text>
        )}
        {!renaming && (
          <Tooltip label={t`Rename`}>
            <ActionIcon variant="subtle" color="gray" size="sm" aria-label={t`Rename`} onClick={rename.open}>
              <IconPencil size={15} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
      </Group>
      {renaming && <RenameForm session={session} onDone={rename.close} />}
      {session.state !== "PENDING" && <ProgressLine session={session} />}
      <Group gap="xs" mt="xs">
        {running && (
          <>
            <OwnButton
              refusal={notMine}
              leftSection={<IconTerminal2 size={16} aria-hidden />}
              onClick={() => void actions.openTerminal(session.id)}
            >
              <Trans>Terminal</Trans>
            </OwnButton>
            {jupyter && (
              <OwnButton
                refusal={notMine}
                variant="light"
                leftSection={<IconNotebook size={16} aria-hidden />}
                onClick={() => void actions.openApp(session, jupyter)}
              >
                {jupyter.title}
              </OwnButton>
            )}
          </>
        )}
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          onClick={() => void actions.startAgain(session.id)}
        >
          {ended ? <Trans>Start again</Trans> : <Trans>Start a similar session</Trans>}
        </Button>
        {!ended && (
          <Button
            size="xs"
            variant="subtle"
            color="red"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={() => actions.terminate([session])}
          >
            <Trans>Terminate…</Trans>
          </Button>
        )}
      </Group>
    </div>
  );
}
