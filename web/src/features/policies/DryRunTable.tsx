import { useLingui } from "@lingui/react/macro";
import { Group, Pagination, Stack, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { DryRunEnding } from "@/api/types";
import { useSessionText } from "@/sentences/use-session-text";
import { formatDuration, formatInstant } from "@/ui/format";
import type { CsvFields } from "@/ui/table/csv";
import { ExportButton } from "@/ui/table/ExportButton";

const ROWS = 20;
const FIELDS: CsvFields<DryRunEnding> = [
  ["session", (one) => one.session],
  ["name", (one) => one.name],
  ["kind", (one) => one.kind],
  ["owner", (one) => one.owner.email],
  ["project", (one) => one.project.name],
  ["started_at", (one) => one.started_at],
  ["ended_at", (one) => one.ended_at],
  ["would_end_at", (one) => one.ends_at],
  ["freed_s", (one) => one.freed_s],
  ["rule", (one) => one.rule],
  ["cpu_percent", (one) => one.measured.cpu],
  ["mem_percent", (one) => one.measured.mem],
  ["accelerator_percent", (one) => one.measured.accelerator],
  ["accelerator_mem_percent", (one) => one.measured.accelerator_mem],
  ["why", (one) => one.why],
];

/** The sessions that idle rules would have ended; first those that then held their slots longest. */
export function DryRunTable({ endings }: { endings: readonly DryRunEnding[] }) {
  const { t, i18n } = useLingui();
  const sessionText = useSessionText();
  const [page, setPage] = useState(1);
  const sorted = useMemo(() => [...endings].sort((one, other) => other.freed_s - one.freed_s), [endings]);
  const at = (instant: string) => formatInstant(instant, i18n.locale);
  const pages = Math.ceil(sorted.length / ROWS);
  return (
    <Stack gap="xs">
      <Table.ScrollContainer minWidth={640} type="native" scrollAreaProps={{ tabIndex: 0 }}>
        <Table fz="xs" verticalSpacing={4} aria-label={t`Sessions that would have been ended`}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t`Session`}</Table.Th>
              <Table.Th>{t`Owner`}</Table.Th>
              <Table.Th>{t`Would have ended`}</Table.Th>
              <Table.Th>{t`Earlier by`}</Table.Th>
              <Table.Th>{t`Reason`}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {sorted.slice((page - 1) * ROWS, page * ROWS).map((one) => (
              <Table.Tr key={one.session}>
                <Table.Td>
                  <Link to="/sessions" search={{ owner: "all", state: "all", session: one.session }}>
                    {one.name}
                  </Link>
                </Table.Td>
                <Table.Td>{one.owner.email}</Table.Td>
                <Table.Td>{at(one.ends_at)}</Table.Td>
                <Table.Td>{formatDuration(one.freed_s * 1000, i18n.locale)}</Table.Td>
                <Table.Td>{sessionText.reason(one.why)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Group justify="space-between">
        {pages > 1 ? (
          <Pagination
            size="xs"
            total={pages}
            value={page}
            onChange={setPage}
            getControlProps={(control) => ({
              "aria-label": control === "next" ? t`Next page` : t`Previous page`,
            })}
          />
        ) : (
          <Text size="xs" c="dimmed" />
        )}
        <ExportButton name="idle-dry-run" fields={FIELDS} all={() => sorted} />
      </Group>
    </Stack>
  );
}
