import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Table, Tooltip } from "@mantine/core";
import { IconTerminal2 } from "@tabler/icons-react";
import type { SessionDetail } from "@/api/types";
import { CONTAINER_STATE_WORDS } from "@/features/sessions/state-names";
import { useSessionActions } from "@/features/sessions/use-actions";
import { SLOTS_JOINT, slotsWords } from "@/ui/slots";

/** The containers of a cluster session, each with its state and a terminal. */
export function ContainersTable({ session }: { session: SessionDetail }) {
  const { t, i18n } = useLingui();
  const actions = useSessionActions();
  const usable = actions.whyNotUse(session) === null;
  return (
    <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table aria-label={t`Containers`} fz="sm" verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t`Container`}</Table.Th>
            <Table.Th>{t`State`}</Table.Th>
            <Table.Th>{t`Node`}</Table.Th>
            <Table.Th>{t`Slots`}</Table.Th>
            <Table.Th>{t`Exit code`}</Table.Th>
            <Table.Th>{t`Terminal`}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {session.containers.map((one) => (
            <Table.Tr key={one.id}>
              <Table.Th scope="row">{one.host}</Table.Th>
              <Table.Td>{i18n._(CONTAINER_STATE_WORDS[one.state])}</Table.Td>
              <Table.Td>{one.node ?? "–"}</Table.Td>
              <Table.Td>{slotsWords(one.slots).join(SLOTS_JOINT)}</Table.Td>
              <Table.Td>{one.exit_code ?? "–"}</Table.Td>
              <Table.Td>
                {usable && one.state === "RUNNING" && session.state === "RUNNING" && (
                  <Tooltip label={t`Terminal in ${one.host}`}>
                    <ActionIcon
                      size="sm"
                      variant="subtle"
                      aria-label={t`Terminal in ${one.host}`}
                      onClick={() => void actions.openTerminal(session.id, one.name)}
                    >
                      <IconTerminal2 size={16} aria-hidden />
                    </ActionIcon>
                  </Tooltip>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
