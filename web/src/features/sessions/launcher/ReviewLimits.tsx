import { Trans, useLingui } from "@lingui/react/macro";
import { Stack, Table, Text } from "@mantine/core";
import type { Check, SessionCreate } from "@/api/types";
import { useLabel } from "@/features/sessions/why/use-label";
import { inSlotOrder, slotAmount, useSlotName } from "@/ui/slots";

/** Of every limit that the session counts against: what is used, what it adds, and the limit. */
export function ReviewLimits({ check, request }: { check: Check; request: SessionCreate }) {
  const { t } = useLingui();
  const label = useLabel();
  const slotName = useSlotName();
  const added = totalOf(request);
  const rows = check.scopes.flatMap(({ scope, label: whose, ceiling, used }) =>
    inSlotOrder(Object.keys(ceiling))
      .filter((slot) => added[slot])
      .map((slot) => ({
        key: `${scope}:${whose}:${slot}`,
        whose: label(whose),
        slot,
        used: used[slot] ?? 0,
        ceiling: ceiling[slot] ?? 0,
        more: added[slot] ?? 0,
      })),
  );
  if (rows.length === 0) return null;
  return (
    <Stack gap={4} component="section" aria-label={t`Limits`}>
      <Text size="sm" fw={500}>
        <Trans>Limits</Trans>
      </Text>
      <Table.ScrollContainer minWidth={380}>
        <Table fz="xs" aria-label={t`Limits`}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t`Limit of`}</Table.Th>
              <Table.Th>{t`Resource`}</Table.Th>
              <Table.Th>{t`In use`}</Table.Th>
              <Table.Th>{t`This session`}</Table.Th>
              <Table.Th>{t`Limit`}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ key, whose, slot, used, more, ceiling }) => (
              <Table.Tr key={key} fw={used + more > ceiling ? 600 : undefined}>
                <Table.Td>{whose}</Table.Td>
                <Table.Td>{slotName(slot)}</Table.Td>
                <Table.Td>{slotAmount(slot, used)}</Table.Td>
                <Table.Td>+ {slotAmount(slot, more)}</Table.Td>
                <Table.Td>{slotAmount(slot, ceiling)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}

/** What a session adds to its limits: the amounts of all its containers, and "sessions". */
function totalOf({ slots, containers = 1, roles = [] }: SessionCreate): Record<string, number> {
  const parts = roles.some(({ name }) => name === "main") || roles.length === 0 ? [] : [{ slots, count: 1 }];
  const each = roles.length > 0 ? [...parts, ...roles] : [{ slots, count: containers }];
  const total: Record<string, number> = { sessions: 1 };
  for (const { slots: own, count = 1 } of each)
    for (const [slot, amount] of Object.entries({ ...(own ?? slots) }))
      total[slot] = (total[slot] ?? 0) + Number(amount) * count;
  return total;
}
