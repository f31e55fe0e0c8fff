import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Skeleton, Stack, Table } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { mayBeyondOwn } from "@/me/may";
import { useMe } from "@/me/use-me";
import { foldersListQuery } from "@/queries/folders";
import { EmptyState } from "@/ui/EmptyState";
import { formatSize } from "@/ui/format";
import { MoreButton } from "@/ui/MoreButton";
import { ProblemAlert } from "@/ui/ProblemAlert";

interface Props {
  /** Whose folders: a user by e-mail, or a project or domain by name. */
  of: { owner: string } | { project: string } | { domain: string };
}

/** The folders of a user, project or domain, for its detail drawer. */
export function FoldersTab({ of }: Props) {
  const { t } = useLingui();
  const list = useInfiniteQuery(foldersListQuery({ of: "all", sort: "name", ...of }));
  const folders = (list.data?.pages ?? []).flatMap((page) => page.items);
  if (list.isPending) return <Skeleton height={160} aria-busy />;
  if (list.isError) return <ProblemAlert problem={list.error} onRetry={() => void list.refetch()} />;
  return (
    <Stack gap="sm">
      <AllFoldersLink of={of} />
      {folders.length === 0 && <EmptyState title={t`No folders yet`} />}
      {folders.length > 0 && (
        <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
          <Table aria-label={t`Folders`} fz="sm" verticalSpacing={6}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t`Name`}</Table.Th>
                <Table.Th>{t`Host`}</Table.Th>
                <Table.Th>{t`Size`}</Table.Th>
                <Table.Th>{t`Mounted in`}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {folders.map((folder) => (
                <Table.Tr key={folder.id}>
                  <Table.Th scope="row">
                    <FolderLink id={folder.id} name={folder.name} />
                  </Table.Th>
                  <Table.Td>{folder.host.name}</Table.Td>
                  <Table.Td>{folder.measured_at ? formatSize(folder.used_bytes) : "–"}</Table.Td>
                  <Table.Td>{folder.mounted}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <MoreButton list={list} />
    </Stack>
  );
}

function FolderLink({ id, name }: { id: string; name: string }) {
  const administers = mayBeyondOwn(useMe(), "quota.read");
  return (
    <Anchor
      size="sm"
      renderRoot={(props) => (
        <Link {...props} to={administers ? "/storage/folders" : "/data"} search={{ open: id }} />
      )}
    >
      {name}
    </Anchor>
  );
}

/** Opens the list of all folders, filtered; for other users, their own list. */
function AllFoldersLink({ of }: Props) {
  const administers = mayBeyondOwn(useMe(), "quota.read");
  const own = "project" in of ? { list: "project" as const, ...of } : {};
  return (
    <Anchor
      size="sm"
      w="fit-content"
      renderRoot={(props) =>
        administers ? (
          <Link {...props} to="/storage/folders" search={of} />
        ) : (
          <Link {...props} to="/data" search={own} />
        )
      }
    >
      <Trans>All folders</Trans>
    </Anchor>
  );
}
