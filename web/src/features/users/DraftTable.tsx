import { Trans, useLingui } from "@lingui/react/macro";
import { ScrollArea, Table, Text } from "@mantine/core";
import { Problem } from "@/api/problem";
import type { DraftUser, Trouble, UserMade } from "@/api/types";
import { useProblemText } from "@/sentences/use-problem-text";
import { StateBadge } from "@/ui/StateBadge";

interface Props {
  rows: DraftUser[];
  /** The server's validation of each row; absent while it is running. */
  checked: UserMade[] | undefined;
}

/** The drafted users, with their errors. Invalid rows come first. */
export function DraftTable({ rows, checked }: Props) {
  const { t } = useLingui();
  const order = rows.map((row, at) => ({ row, at, says: checked?.[at] }));
  order.sort(
    (a, b) => Number(b.says?.status === "failed") - Number(a.says?.status === "failed") || a.at - b.at,
  );
  return (
    <ScrollArea.Autosize mah="40vh" type="auto">
      <Table stickyHeader aria-label={t`Users to create`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={60}>
              <Trans>Row</Trans>
            </Table.Th>
            <Table.Th>
              <Trans>E-mail</Trans>
            </Table.Th>
            <Table.Th>
              <Trans>Name</Trans>
            </Table.Th>
            <Table.Th>
              <Trans>State</Trans>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {order.map(({ row, at, says: result }) => (
            <Table.Tr key={at}>
              <Table.Td>{at + 1}</Table.Td>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{row.email}</Table.Td>
              <Table.Td>{row.name}</Table.Td>
              <Table.Td>
                <Verdict says={result} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  );
}

function Verdict({ says: result }: { says: UserMade | undefined }) {
  const problemText = useProblemText();
  if (!result)
    return (
      <StateBadge look="working">
        <Trans>checking</Trans>
      </StateBadge>
    );
  if (result.status !== "failed") {
    return (
      <StateBadge look="ok">
        {result.status === "created" ? <Trans>created</Trans> : <Trans>valid</Trans>}
      </StateBadge>
    );
  }
  return (
    <Text size="sm" c="var(--carrel-bad)">
      {(result.problems ?? []).map((trouble) => problemText(asProblem(trouble)).detail).join(" ")}
    </Text>
  );
}

const asProblem = ({ code, detail, hint, field }: Trouble) =>
  new Problem({ status: 422, code, detail, hint, field });
