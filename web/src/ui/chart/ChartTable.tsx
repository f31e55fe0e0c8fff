import { Trans } from "@lingui/react/macro";
import { Table } from "@mantine/core";
import { useState } from "react";
import { type Line, rowsWithin, type TimeRange } from "./series";
import styles from "./TimeChart.module.css";
import { useMoment } from "./use-moment";

const ROWS = 60;

interface Props {
  title: string;
  times: readonly number[];
  lines: readonly Line[];
  range: TimeRange;
  format: (value: number) => string;
}

/** The values of a chart as a table, for screen readers. */
export function ChartTable({ title, times, lines, range, format }: Props) {
  const moment = useMoment();
  const [open, setOpen] = useState(false);
  return (
    <details className={styles.figures} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Trans>Show as table</Trans>
      </summary>
      {open && (
        <Table fz="xs" mt="xs" aria-label={title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>
                <Trans>Time</Trans>
              </Table.Th>
              {lines.map(({ key, label }) => (
                <Table.Th key={key}>{label}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rowsWithin(times, range, ROWS).map((index) => (
              <Table.Tr key={times[index]}>
                <Table.Td>{moment(times[index] ?? 0)}</Table.Td>
                {lines.map(({ key, values }) => {
                  const value = values[index];
                  return <Table.Td key={key}>{value == null ? "–" : format(value)}</Table.Td>;
                })}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </details>
  );
}
