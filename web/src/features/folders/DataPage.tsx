import { Trans, useLingui } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { invitationsQuery } from "@/queries/invitations";
import type { FolderListName } from "@/routing/search";
import { useAddress } from "@/routing/use-address";
import { EmptyState } from "@/ui/EmptyState";
import { PageTabs } from "@/ui/PageTabs";
import styles from "@/ui/table/list.module.css";
import { usePageTitle } from "@/ui/use-page-title";
import { FoldersView } from "./FoldersView";
import { InvitationsView } from "./InvitationsView";
import { UsageStrip } from "./UsageStrip";

const route = getRouteApi("/shell/data");

/** The user's folders: own, of projects, shared, offered, and in the trash. */
export function DataPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const invitations = useQuery(invitationsQuery).data ?? [];
  usePageTitle(t`Data`);
  const change = useAddress<typeof search>();
  const tab = (list: FolderListName | undefined, label: string, count = 0) =>
    ({ to: "/data", label, search: { list }, count }) as const;
  return (
    <div className={styles.page}>
      <PageTabs
        label={t`Data`}
        tabs={[
          tab(undefined, t`Mine`),
          tab("project", t`Projects`),
          tab("shared", t`Shared with me`),
          tab("invitations", t`Invitations`, invitations.length),
          tab("trash", t`Trash`),
        ]}
      />
      {search.list === "invitations" ? (
        <InvitationsView />
      ) : (
        <FoldersView
          title={t`Data`}
          space={search.list === "trash" ? null : <UsageStrip />}
          search={search}
          of={search.list === "trash" ? "me" : (search.list ?? "mine")}
          change={change}
          empty={<NoFolders list={search.list} onMake={() => change({ make: "one" })} />}
        />
      )}
    </div>
  );
}

function NoFolders({ list, onMake }: { list: FolderListName | undefined; onMake: () => void }) {
  const { t } = useLingui();
  if (list === "trash") {
    return (
      <EmptyState
        title={t`The trash is empty`}
        text={t`Folders that you move to the trash can be restored until they expire.`}
      />
    );
  }
  if (list === "shared") return <EmptyState title={t`No folders are shared with you`} />;
  if (list === "project") {
    return (
      <EmptyState
        title={t`Your projects have no folders`}
        text={t`A project administrator can create one.`}
      />
    );
  }
  return (
    <EmptyState
      title={t`You have no folders yet`}
      text={t`Files in a folder are kept after a session ends. Create a folder, mount it into sessions and share it with others.`}
      action={
        <Button size="xs" mt="xs" onClick={onMake}>
          <Trans>New folder</Trans>
        </Button>
      }
    />
  );
}
