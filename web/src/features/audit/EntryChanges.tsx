import { Trans, useLingui } from "@lingui/react/macro";
import { Table, Title } from "@mantine/core";
import type { AuditEntry } from "@/api/types";
import { fieldText, valueText } from "./sentences/fields";
import { useVoice } from "./sentences/use-entry-text";
import { afterOf, beforeOf } from "./sentences/voice";

/** The changed fields of an entry, with their values before and after. */
export function EntryChanges({ entry }: { entry: AuditEntry }) {
  const { t } = useLingui();
  const voice = useVoice();
  const [before, after] = [beforeOf(entry), afterOf(entry)];
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  if (fields.length === 0) return null;
  const cell = (part: Readonly<Record<string, unknown>>, field: string) =>
    field in part ? valueText(voice, field, part[field]) : "–";
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        <Trans>Changes</Trans>
      </Title>
      <Table aria-label={t`Changes`} layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w="26%">
              <Trans>Field</Trans>
            </Table.Th>
            <Table.Th>
              <Trans>Before</Trans>
            </Table.Th>
            <Table.Th>
              <Trans>After</Trans>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {fields.map((field) => (
            <Table.Tr key={field} style={{ overflowWrap: "anywhere" }}>
              <Table.Td>{fieldText(voice, field)}</Table.Td>
              <Table.Td c="dimmed">{cell(before, field)}</Table.Td>
              <Table.Td>{cell(after, field)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}
