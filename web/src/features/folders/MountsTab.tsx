import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Skeleton, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Folder } from "@/api/types";
import { folderMountsQuery } from "@/queries/folders";
import { EmptyState } from "@/ui/EmptyState";
import { ProblemAlert } from "@/ui/ProblemAlert";

/** The live sessions that mount a folder. */
export function MountsTab({ folder }: { folder: Folder }) {
  const { t } = useLingui();
  const query = useQuery(folderMountsQuery(folder.id));
  if (query.isPending) return <Skeleton height={120} aria-busy />;
  if (query.isError) return <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />;
  if (query.data.length === 0) {
    return (
      <EmptyState title={t`Not mounted in any live session`} text={t`Mount it when you start a session.`} />
    );
  }
  return (
    <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>
              <Trans>Session</Trans>
            </Table.Th>
            <Table.Th>
              <Trans>Mount path</Trans>
            </Table.Th>
            <Table.Th>
              <Trans>Access</Trans>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {query.data.map((mount) => (
            <Table.Tr key={`${mount.session_id}${mount.path}`}>
              <Table.Td>
                {mount.session_name ? (
                  <Anchor
                    size="sm"
                    renderRoot={(props) => (
                      <Link {...props} to="/sessions" search={{ state: "all", session: mount.session_id }} />
                    )}
                  >
                    {mount.session_name}
                  </Anchor>
                ) : (
                  <Trans>another user's session</Trans>
                )}
                {mount.owner && (
                  <Text size="xs" c="dimmed">
                    {mount.owner.email}
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                {mount.path}
                {mount.subpath && (
                  <Text size="xs" c="dimmed">
                    <Trans>{mount.subpath} only</Trans>
                  </Text>
                )}
              </Table.Td>
              <Table.Td>{mount.read_only ? <Trans>read-only</Trans> : <Trans>read-write</Trans>}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
