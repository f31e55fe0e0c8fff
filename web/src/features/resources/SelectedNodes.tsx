import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Skeleton, Stack, Table, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { SelectedNode } from "@/api/types";
import { selectorPreviewQuery } from "@/queries/groups";
import { ProblemAlert } from "@/ui/ProblemAlert";

const REST_MS = 400;

/** The nodes that a node selector selects, and what it does to each. name: of its group. */
export function SelectedNodes(props: { selector: string; name: string }) {
  const { t } = useLingui();
  const [{ selector, name }] = useDebouncedValue(props, REST_MS);
  const { data, error, isPending } = useQuery(selectorPreviewQuery(selector, name));
  if (isPending) return <Skeleton height={48} aria-busy />;
  if (!data) return <ProblemAlert problem={error} />;
  const { count, joining, items } = data;
  return (
    <Stack gap={4}>
      <Text size="sm" role="status">
        <Plural value={count} _0="No node has these labels." one="# node selected" other="# nodes selected" />
        {joining > 0 && (
          <>
            {", "}
            <Plural value={joining} one="# joins" other="# join" />
          </>
        )}
      </Text>
      {items.length > 0 && (
        <Table.ScrollContainer
          minWidth={360}
          maxHeight={240}
          scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
        >
          <Table aria-label={t`Selected nodes`} fz="sm" verticalSpacing={4}>
            <Table.Tbody>
              {items.map((node) => (
                <Table.Tr key={node.id}>
                  <Table.Th scope="row">{node.name}</Table.Th>
                  <Table.Td>
                    <Becomes node={node} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {items.length < count && (
        <Text size="xs" c="dimmed">
          <Trans>Only the first {items.length} are shown.</Trans>
        </Text>
      )}
    </Stack>
  );
}

function Becomes({ node }: { node: SelectedNode }) {
  const { name } = node.group;
  const others = node.others.join(", ");
  switch (node.outcome) {
    case "fixed":
      return <Trans>stays in {name}, which an administrator chose</Trans>;
    case "taken":
      return <Trans>also selected by {others}, which comes first by name</Trans>;
    case "joins":
      return others ? (
        <Trans>
          joins from {name}; also selected by {others}
        </Trans>
      ) : (
        <Trans>joins from {name}</Trans>
      );
    default:
      return others ? <Trans>is in it; also selected by {others}</Trans> : <Trans>is in it</Trans>;
  }
}
