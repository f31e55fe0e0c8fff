import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, List, Stack, Table, Text } from "@mantine/core";
import type { EngineCheck } from "@/api/types";
import { nodeCauseIn } from "@/sentences/reasons";
import { inSlotOrder, slotText } from "@/ui/slots";
import { checkNoteIn, DANGERS, GAPS } from "./engine-words";

const slotsText = (slots: Readonly<Record<string, number>>) =>
  inSlotOrder(Object.keys(slots))
    .map((slot) => slotText(slot, slots[slot] ?? 0))
    .join(", ");

/** What an engine offers and what it cannot do, or why it does not respond. */
export function EngineCheckResult({ check }: { check: EngineCheck }) {
  const { t, i18n } = useLingui();
  const capacity = slotsText(check.capacity) || t`none`;
  const runtimes = check.runtimes.join(", ");
  const versions = check.versions.join(", ");
  const dangerous = check.gaps.some(({ code }) => DANGERS.includes(code));
  const sentence = !check.ok
    ? check.sentence
    : versions
      ? t`It responds: ${versions}.`
      : t`It responds, and lists no node.`;
  return (
    <Alert
      color={!check.ok ? "red" : dangerous ? "yellow" : "green"}
      variant="light"
      role="status"
      title={sentence}
    >
      {check.ok && (
        <Stack gap="xs">
          {check.notes.map((note) => (
            <Text key={note} size="sm">
              {checkNoteIn((message) => i18n._(message), note) ?? note}
            </Text>
          ))}
          {check.nodes.length > 0 && (
            <>
              <Text size="sm">
                <Trans>Capacity for sessions: {capacity}</Trans>
              </Text>
              <Table.ScrollContainer
                minWidth={360}
                maxHeight={200}
                scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
              >
                <Table aria-label={t`Nodes`} fz="sm" verticalSpacing={4}>
                  <Table.Tbody>
                    {check.nodes.map((node) => (
                      <Table.Tr key={node.name}>
                        <Table.Th scope="row">{node.name}</Table.Th>
                        <Table.Td>{slotsText(node.slots)}</Table.Td>
                        <Table.Td>
                          {node.closed &&
                            (nodeCauseIn((message) => i18n._(message), node.closed) ?? node.closed)}
                        </Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </Table.ScrollContainer>
            </>
          )}
          {runtimes && (
            <Text size="sm">
              <Trans>Container runtimes that resource groups may name: {runtimes}</Trans>
            </Text>
          )}
          {check.gaps.length > 0 && (
            <section>
              <Text size="sm" fw={500}>
                <Trans>What it cannot do</Trans>
              </Text>
              <List size="sm">
                {check.gaps.map(({ code }) => (
                  <List.Item key={code}>{i18n._(GAPS[code])}</List.Item>
                ))}
              </List>
            </section>
          )}
        </Stack>
      )}
    </Alert>
  );
}
