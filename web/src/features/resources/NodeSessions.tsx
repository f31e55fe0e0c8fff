import { useLingui } from "@lingui/react/macro";
import { Anchor, Table } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { NodeDetail } from "@/api/types";
import { Age } from "@/features/sessions/Age";
import { SessionBadge } from "@/features/sessions/SessionBadge";
import { EmptyState } from "@/ui/EmptyState";
import { inSlotOrder, slotText } from "@/ui/slots";

/** The sessions on a node that the user may see. */
export function NodeSessions({ node }: { node: NodeDetail }) {
  const { t } = useLingui();
  if (node.sessions.length === 0) {
    return (
      <EmptyState
        title={
          node.live_sessions === 0 ? t`No sessions on this node` : t`None of your sessions is on this node`
        }
      />
    );
  }
  return (
    <Table.ScrollContainer minWidth={560} scrollAreaProps={{ tabIndex: 0 }}>
      <Table aria-label={t`Sessions`} fz="sm" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t`Name`}</Table.Th>
            <Table.Th>{t`State`}</Table.Th>
            <Table.Th>{t`Owner`}</Table.Th>
            <Table.Th>{t`Allocation`}</Table.Th>
            <Table.Th>{t`Running for`}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {node.sessions.map((session) => (
            <Table.Tr key={session.id}>
              <Table.Th scope="row">
                <Anchor
                  size="sm"
                  renderRoot={(props) => (
                    <Link {...props} to="/sessions" search={{ owner: "all", session: session.id }} />
                  )}
                >
                  {session.name}
                </Anchor>
              </Table.Th>
              <Table.Td>
                <SessionBadge state={session.state} />
              </Table.Td>
              <Table.Td>{session.owner.email}</Table.Td>
              <Table.Td>
                {inSlotOrder(Object.keys(session.slots))
                  .map((slot) => slotText(slot, session.slots[slot] ?? 0))
                  .join(" · ")}
              </Table.Td>
              <Table.Td>{session.started_at ? <Age since={session.started_at} /> : "–"}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
