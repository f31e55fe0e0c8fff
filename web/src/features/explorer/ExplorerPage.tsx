import { useLingui } from "@lingui/react/macro";
import { Box, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { foldersShowQuery } from "@/queries/folders";
import { EmptyState } from "@/ui/EmptyState";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { usePageTitle } from "@/ui/use-page-title";
import { Explorer } from "./Explorer";

const route = getRouteApi("/shell/data/$folder");

/** The file browser page of a folder. */
export function ExplorerPage() {
  const { t } = useLingui();
  const { folder: ref } = route.useParams();
  const query = useQuery(foldersShowQuery(ref));
  const folder = query.data;
  usePageTitle(folder?.name ?? t`Folder`);
  if (query.isPending) return <Skeleton height={320} m="md" aria-busy />;
  if (!folder) {
    return (
      <Box p="md" maw={560} mx="auto">
        <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
      </Box>
    );
  }
  if (folder.my_permission === null) {
    return (
      <EmptyState
        title={t`You have no access to its files`}
        text={t`You can manage this folder, but not see its files.`}
      />
    );
  }
  if (!["READY", "MOVING"].includes(folder.state)) {
    return (
      <EmptyState
        title={t`This folder is not available`}
        text={
          folder.state === "TRASHED"
            ? t`The folder is in the trash. Restore it first.`
            : t`Wait until the folder is ready.`
        }
      />
    );
  }
  return <Explorer key={folder.id} folder={folder} />;
}
