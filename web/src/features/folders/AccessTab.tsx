import { Trans, useLingui } from "@lingui/react/macro";
import { Skeleton, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Folder } from "@/api/types";
import { folderAccessQuery } from "@/queries/folders";
import { EmptyState } from "@/ui/EmptyState";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { PermissionText } from "./badges";
import { WAYS } from "./words";

/** The users with access to a folder, since when and through what. */
export function AccessTab({ folder }: { folder: Folder }) {
  const { t, i18n } = useLingui();
  const seen = folder.mine || folder.my_permission === null;
  const query = useQuery({ ...folderAccessQuery(folder.id), enabled: seen });
  if (!seen) {
    return (
      <Text size="sm">
        <Trans>Only the owner and administrators can see who has access.</Trans>
      </Text>
    );
  }
  if (query.isPending) return <Skeleton height={160} aria-busy />;
  if (query.isError) return <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />;
  if (query.data.length === 0) return <EmptyState title={t`No one can read this folder`} />;
  return (
    <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>
              <Trans>Who</Trans>
            </Table.Th>
            <Table.Th>
              <Trans>Permission</Trans>
            </Table.Th>
            <Table.Th>
              <Trans>Since</Trans>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {query.data.map((entry) => (
            <Table.Tr key={`${entry.user.id}${entry.via}${entry.project?.id}`}>
              <Table.Td>
                <Stack gap={0}>
                  <Text size="sm">{entry.user.email}</Text>
                  <Text size="xs" c="dimmed">
                    {i18n._(WAYS[entry.via])}
                    {entry.project ? `: ${entry.project.name}` : ""}
                  </Text>
                </Stack>
              </Table.Td>
              <Table.Td>
                <PermissionText permission={entry.permission} />
              </Table.Td>
              <Table.Td>
                <Instant at={entry.since} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
