import { useLingui } from "@lingui/react/macro";
import { getRouteApi } from "@tanstack/react-router";
import { FoldersView } from "@/features/folders/FoldersView";
import { useAddress } from "@/routing/use-address";
import { EmptyState } from "@/ui/EmptyState";
import styles from "@/ui/table/list.module.css";
import { usePageTitle } from "@/ui/use-page-title";
import { StorageTabs } from "./StorageTabs";

const route = getRouteApi("/shell/storage/folders");

/** The folders of all owners that the user administers. */
export function AllFoldersPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  usePageTitle(t`All folders`);
  const change = useAddress<typeof search>();
  return (
    <div className={styles.page}>
      <StorageTabs />
      <FoldersView
        title={t`All folders`}
        search={search}
        of="all"
        change={change}
        empty={<EmptyState title={search.list === "trash" ? t`The trash is empty` : t`No folders yet`} />}
      />
    </div>
  );
}
