import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { SlotStatistics, StatisticsRow, StatisticsView } from "@/api/generated/types.gen";
import { inSlotOrder, slotAmount, slotUnit, useSlotName } from "@/ui/slots";
import type { Amounts } from "./amounts";
import styles from "./Statistics.module.css";
import { deeper } from "./scopes";
import { useByNames } from "./use-by-names";

interface Props {
  view: StatisticsView;
  amounts: Amounts;
}

/** One row per domain, project, user, group or image and slot. */
export function RowsTable({ view, amounts }: Props) {
  const { t } = useLingui();
  const title = useByNames()[view.by];
  const priced = Object.keys(view.prices).length > 0;
  const metered = view.total.energy_kwh !== null;
  return (
    <>
      <Table.ScrollContainer minWidth={860} type="native" scrollAreaProps={{ tabIndex: 0 }} mt="md">
        <Table fz="sm" verticalSpacing={6} aria-label={t`Statistics`} className={styles.table}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{title}</Table.Th>
              <Table.Th title={t`Sessions that started in this period`}>{t`Started`}</Table.Th>
              <Table.Th>{t`Wait, median / 90%`}</Table.Th>
              <Table.Th>{t`Slot`}</Table.Th>
              <Table.Th title={t`Cores, GiB or devices, times hours`}>{t`Slot-hours`}</Table.Th>
              <Table.Th title={t`The highest allocation, as the mean of an hour`}>{t`Peak`}</Table.Th>
              <Table.Th
                title={t`Used of what was allocated, while it was measured`}
              >{t`Utilization`}</Table.Th>
              <Table.Th title={t`Allocated but not used slot-hours, while it was measured`}>
                {t`Unused`}
              </Table.Th>
              <Table.Th>{t`Most unused by`}</Table.Th>
              {metered && (
                <Table.Th title={t`Of accelerators, while their power was measured`}>{t`Energy`}</Table.Th>
              )}
              {priced && <Table.Th>{t`Cost`}</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          {[...view.items, view.total].map((row) => (
            <Rows key={row.id} {...{ view, row, amounts, priced, metered }} />
          ))}
        </Table>
      </Table.ScrollContainer>
      {view.omitted > 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          <Trans>{view.omitted} more rows are in the CSV file.</Trans>
        </Text>
      )}
    </>
  );
}

interface RowsProps extends Props {
  row: StatisticsRow;
  priced: boolean;
  metered: boolean;
}

function Rows({ view, row, amounts, priced, metered }: RowsProps) {
  const slotName = useSlotName();
  const slots = inSlotOrder(Object.keys(row.slots));
  const { waits } = row;
  return (
    <Table.Tbody className={row.id ? undefined : styles.total}>
      {slots.map((slot, index) => {
        const of = row.slots[slot];
        if (!of) return null;
        return (
          <Table.Tr key={slot}>
            {index === 0 && (
              <>
                <Table.Th scope="rowgroup" rowSpan={slots.length}>
                  <Name view={view} row={row} />
                </Table.Th>
                <Table.Td rowSpan={slots.length} className={styles.number}>
                  {waits.sessions}
                </Table.Td>
                <Table.Td rowSpan={slots.length} className={styles.number}>
                  {amounts.seconds(waits.p50_s)} / {amounts.seconds(waits.p90_s)}
                </Table.Td>
              </>
            )}
            <Table.Td>{slotName(slot)}</Table.Td>
            <Table.Td className={styles.number}>{amounts.hours(slot, of.held)}</Table.Td>
            <Table.Td className={styles.number}>{slotAmount(slot, Math.round(of.peak))}</Table.Td>
            <Table.Td className={styles.number}>{amounts.percent(of.utilisation)}</Table.Td>
            <Table.Td className={styles.number}>
              {of.utilisation === null ? "–" : amounts.hours(slot, of.unused)}
            </Table.Td>
            <Table.Td>
              <Worst slot={slot} of={of} amounts={amounts} />
            </Table.Td>
            {metered && <Table.Td className={styles.number}>{amounts.energy(of.energy_kwh)}</Table.Td>}
            {priced && <Table.Td className={styles.number}>{amounts.cost(of.cost)}</Table.Td>}
          </Table.Tr>
        );
      })}
    </Table.Tbody>
  );
}

/** The name of a row, as a link to its own statistics. */
function Name({ view, row }: { view: StatisticsView; row: StatisticsRow }) {
  if (!row.id) return <Trans>Total</Trans>;
  const next = view.scope === "node" ? null : deeper(view.by, view.scope);
  if (!next) return <span className={styles.name}>{row.label}</span>;
  return (
    <Anchor
      size="sm"
      renderRoot={(props) => (
        <Link
          {...props}
          to="/statistics"
          search={(now) => ({ ...now, scope: next.scope, ref: row.id, by: next.by })}
        />
      )}
    >
      {row.label}
    </Anchor>
  );
}

/** The session that wasted most, as a link to its usage. */
function Worst({ slot, of, amounts }: { slot: string; of: SlotStatistics; amounts: Amounts }) {
  const { worst } = of;
  if (!worst || worst.unused < slotUnit(slot) / 100) return <>–</>;
  return (
    <>
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link
            {...props}
            to="/sessions"
            search={{ state: "all", owner: "all", session: worst.id, tab: "usage" }}
          />
        )}
      >
        {worst.name}
      </Anchor>{" "}
      <Text span size="xs" c="dimmed">
        {worst.owner.email} · {amounts.hours(slot, worst.unused)}
      </Text>
    </>
  );
}
