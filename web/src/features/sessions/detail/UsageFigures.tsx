import { Trans, useLingui } from "@lingui/react/macro";
import { Table } from "@mantine/core";
import { formatCores, formatSize, writing } from "@/ui/format";
import styles from "./UsageChart.module.css";
import type { Sample } from "./use-live-samples";

const ROWS = 60;

/** The values of the charts as a table, for screen readers. */
export function UsageFigures({ samples }: { samples: Sample[] }) {
  const { i18n } = useLingui();
  const clock = new Intl.DateTimeFormat(writing(i18n.locale), { dateStyle: "short", timeStyle: "medium" });
  const step = Math.max(1, Math.ceil(samples.length / ROWS));
  const shown = samples.filter((_, index) => (samples.length - 1 - index) % step === 0).reverse();
  return (
    <details className={styles.figures}>
      <summary>
        <Trans>Show as table</Trans>
      </summary>
      <Table fz="xs" mt="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>
              <Trans>Time</Trans>
            </Table.Th>
            <Table.Th>
              <Trans>CPU cores</Trans>
            </Table.Th>
            <Table.Th>
              <Trans>Memory</Trans>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map((sample) => (
            <Table.Tr key={sample.at}>
              <Table.Td>{clock.format(new Date(sample.at))}</Table.Td>
              <Table.Td>{formatCores(sample.cpu_millis)}</Table.Td>
              <Table.Td>{formatSize(sample.mem_bytes)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </details>
  );
}
