import { useLingui } from "@lingui/react/macro";
import { Anchor, Table } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { NodeDetail, Session } from "@/api/types";
import { SLOTS_JOINT, slotsWords } from "@/ui/slots";
import { Age } from "./Age";
import { SessionBadge } from "./SessionBadge";

type Row =
  | Pick<Session, "id" | "name" | "state" | "owner" | "slots" | "started_at">
  | NodeDetail["sessions"][number];

/** A short list of live sessions in a detail drawer. */
export function SessionsTable({ sessions, owner = true }: { sessions: readonly Row[]; owner?: boolean }) {
  const { t } = useLingui();
  return (
    <Table.ScrollContainer minWidth={owner ? 440 : 360} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table aria-label={t`Sessions`} fz="sm" verticalSpacing={6} style={{ whiteSpace: "nowrap" }}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t`Name`}</Table.Th>
            <Table.Th>{t`State`}</Table.Th>
            {owner && <Table.Th>{t`Owner`}</Table.Th>}
            <Table.Th>{t`Allocation`}</Table.Th>
            <Table.Th>{t`Running for`}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sessions.map((session) => (
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
              {owner && <Table.Td>{session.owner.email}</Table.Td>}
              <Table.Td>{slotsWords(session.slots).join(SLOTS_JOINT)}</Table.Td>
              <Table.Td>{session.started_at ? <Age since={session.started_at} /> : "–"}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
