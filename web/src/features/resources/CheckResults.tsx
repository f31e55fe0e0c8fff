import { useLingui } from "@lingui/react/macro";
import { Table } from "@mantine/core";
import type { AcceleratorCheck } from "@/api/types";
import { formatSize } from "@/ui/format";
import { StateBadge } from "@/ui/StateBadge";
import { CHECK_OUTCOMES, CHECKED_ASPECTS } from "./check-words";

type Result = AcceleratorCheck["results"][number];

/** What a check has seen of each accelerator, and of shares of it. */
export function CheckResults({ results }: { results: Result[] }) {
  const { t, i18n } = useLingui();
  if (results.length === 0) return null;
  return (
    <Table.ScrollContainer minWidth={560} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table aria-label={t`Results of the last check`} fz="sm" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t({ context: "accelerator", message: "Device" })}</Table.Th>
            <Table.Th>{t`Check`}</Table.Th>
            <Table.Th>{t`Result`}</Table.Th>
            <Table.Th>{t`What was seen`}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {results.flatMap((result) => [
            ...result.measures.map(({ name, outcome, text }) => (
              <Row key={`${result.device} ${name}`} device={result.device} outcome={outcome}>
                {[i18n._(CHECKED_ASPECTS[name]), text]}
              </Row>
            )),
            ...result.shares.map((share) => (
              <Share key={`${result.device} ${share.thousandths}`} device={result.device} share={share} />
            )),
          ])}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Share({ device, share }: { device: string; share: Result["shares"][number] }) {
  const { t } = useLingui();
  const { limit_bytes: limit, allocated_bytes: allocated, neighbour_loss_percent: loss } = share;
  const part = share.thousandths / 1000;
  const [got, most] = [formatSize(allocated ?? 0), formatSize(limit ?? 0)];
  const seen = [
    allocated !== null && limit !== null && t`It got ${got} of memory; its share is ${most}.`,
    loss !== null && t`The neighbor computed ${loss} % slower.`,
    share.text,
  ];
  return (
    <Row device={device} outcome={share.outcome}>
      {[t`${part} of it`, seen.filter(Boolean).join(" ")]}
    </Row>
  );
}

function Row(props: { device: string; outcome: Result["outcome"]; children: [string, string] }) {
  const { i18n } = useLingui();
  const { title, look } = CHECK_OUTCOMES[props.outcome];
  const [check, text] = props.children;
  return (
    <Table.Tr>
      <Table.Th scope="row">{props.device}</Table.Th>
      <Table.Td>{check}</Table.Td>
      <Table.Td>
        <StateBadge look={look} state={props.outcome}>
          {i18n._(title)}
        </StateBadge>
      </Table.Td>
      <Table.Td>{text}</Table.Td>
    </Table.Tr>
  );
}
