import { Group, Text } from "@mantine/core";
import { hasEnded } from "@/api/session-states";
import type { Session } from "@/api/types";
import { Age, Duration } from "./Age";
import { rowResult, rowState } from "./arrays";
import { NameCell } from "./NameCell";
import { RowTools } from "./RowTools";
import { SessionBadge } from "./SessionBadge";
import { SlotsText } from "./SlotsText";
import { AcceleratorSparkline, UsageSparkline } from "./UsageSparkline";
import type { SessionActions } from "./use-actions";
import { WhyCell } from "./WhyCell";

interface Props {
  session: Session;
  actions: SessionActions;
  onOpen: (session: Session) => void;
}

/** A session in a narrow window. */
export function SessionCard({ session, actions, onOpen }: Props) {
  const shown = session.state === "RUNNING" && !session.array;
  return (
    <>
      <Group justify="space-between" wrap="nowrap" align="flex-start" gap="xs">
        <div style={{ minWidth: 0, flex: 1 }}>
          <NameCell session={session} onOpen={() => onOpen(session)} />
        </div>
        <SessionBadge state={rowState(session)} result={rowResult(session)} />
        {!shown && <RowTools session={session} actions={actions} />}
      </Group>
      <Text size="xs" c="dimmed" mt={4} truncate>
        {session.shared_as && <>{session.owner.email} · </>}
        {session.project.name} · {session.image_name ?? session.image} · <SlotsText slots={session.slots} /> ·{" "}
        {hasEnded(session.state) ? <Duration session={session} /> : <Age since={session.created_at} />}
      </Text>
      {!shown && <WhyCell session={session} />}
      {shown && (
        <Group justify="space-between" mt={4} wrap="nowrap" gap="xs">
          <Group gap="sm" wrap="nowrap">
            <UsageSparkline session={session} slot="cpu" />
            <UsageSparkline session={session} slot="mem" />
            <AcceleratorSparkline session={session} />
          </Group>
          <RowTools session={session} actions={actions} />
        </Group>
      )}
    </>
  );
}
