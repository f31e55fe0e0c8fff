import { Trans, useLingui } from "@lingui/react/macro";
import { Badge, Table, Text } from "@mantine/core";
import type { GroupRef, Share } from "@/api/types";
import { SlotsText } from "@/features/sessions/SlotsText";
import { formatPercent } from "@/ui/format";
import styles from "./Shares.module.css";
import type { ShareLine } from "./shares";
import { WeightCell } from "./WeightCell";

interface Props {
  group: GroupRef;
  lines: ShareLine[];
}

/** The same figures as a table, with the weights, which administrators of the group can edit in place. */
export function SharesTable({ group, lines }: Props) {
  const { t, i18n } = useLingui();
  const kinds: Record<string, string> = { domain: t`domain`, project: t`project`, user: t`user` };
  const percent = (part: number) => formatPercent(part, i18n.locale);
  const level = new Intl.NumberFormat(i18n.locale, { maximumSignificantDigits: 3 });
  return (
    <Table.ScrollContainer minWidth={760} type="native" scrollAreaProps={{ tabIndex: 0 }}>
      <Table fz="sm" verticalSpacing={6} aria-label={t`Shares`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t`Name`}</Table.Th>
            <Table.Th>{t`Weight`}</Table.Th>
            <Table.Th>{t`Usage share`}</Table.Th>
            <Table.Th>{t`Target share`}</Table.Th>
            <Table.Th>{t`Share of group`}</Table.Th>
            <Table.Th title={t`Usage relative to weight. The smallest goes first.`}>{t`Level`}</Table.Th>
            <Table.Th>{t`Pending`}</Table.Th>
            <Table.Th>{t`Allocated`}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {lines.map(({ path, node, depth, portion, next }) => (
            <Table.Tr key={path}>
              <Table.Th scope="row" fw={depth === 0 ? 600 : 400}>
                <div style={{ paddingInlineStart: `${depth}rem` }}>
                  {node.name}{" "}
                  <Text span size="xs" c="dimmed">
                    {kinds[node.kind] ?? node.kind}
                  </Text>{" "}
                  {next && (
                    <Badge size="xs" variant="light" color="lamp">
                      <Trans>next</Trans>
                    </Badge>
                  )}
                </div>
              </Table.Th>
              <Table.Td>
                <WeightCell group={group} node={node} />
              </Table.Td>
              <Table.Td>{portion === null ? "–" : percent(portion)}</Table.Td>
              <Table.Td>{percent(node.entitled)}</Table.Td>
              <Table.Td>{percent(node.share)}</Table.Td>
              <Table.Td className={styles.number}>{level.format(node.level)}</Table.Td>
              <Table.Td>{node.waiting}</Table.Td>
              <Table.Td>{heldOf(node) ? <SlotsText slots={heldOf(node) ?? {}} /> : "–"}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

const heldOf = ({ held }: Share) => (Object.values(held).some((amount) => amount > 0) ? held : null);
