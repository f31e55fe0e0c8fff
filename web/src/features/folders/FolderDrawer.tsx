import { useLingui } from "@lingui/react/macro";
import { ScrollArea, Stack, Tabs } from "@mantine/core";
import { IconArrowBackUp, IconFolderOpen, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Folder } from "@/api/types";
import { foldersShowQuery } from "@/queries/folders";
import { FOLDER_TABS, type FolderAct, type FolderTab } from "@/routing/search";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { MainButton } from "@/ui/MainButton";
import { AccessTab } from "./AccessTab";
import { FolderOverview } from "./FolderOverview";
import { MountsTab } from "./MountsTab";
import { SharingTab } from "./SharingTab";
import { TasksTab } from "./TasksTab";
import type { FolderActs } from "./use-folder-acts";

interface Props {
  opened: boolean;
  id: string;
  tab: FolderTab;
  acts: FolderActs;
  onTab: (tab: FolderTab) => void;
  onAct: (act: FolderAct, folder: Folder) => void;
  onBrowse: (folder: Folder) => void;
  onClose: () => void;
}

/** Details of a folder, except its files. */
export function FolderDrawer({ opened, id, tab, acts, onTab, onAct, onBrowse, onClose }: Props) {
  const { t } = useLingui();
  const query = useQuery(foldersShowQuery(id));
  const folder = query.data;
  const names: Record<FolderTab, string> = {
    overview: t`Overview`,
    sharing: t`Sharing`,
    access: t`Readers`,
    sessions: t`Sessions`,
    tasks: t`Tasks`,
  };
  return (
    <DetailDrawer
      opened={opened}
      id={id}
      onClose={onClose}
      size="xl"
      title={folder?.name ?? t`Folder`}
      query={query}
      actions={
        folder && (
          <DrawerButtons folder={folder} acts={acts} onAct={onAct} onBrowse={onBrowse} onGone={onClose} />
        )
      }
    >
      {folder && (
        <Stack gap="md" key={folder.id}>
          <Tabs value={tab} onChange={(next) => next && onTab(next as FolderTab)} keepMounted={false}>
            <ScrollArea type="never">
              <Tabs.List mb="md" style={{ flexWrap: "nowrap" }}>
                {FOLDER_TABS.map((one) => (
                  <Tabs.Tab key={one} value={one}>
                    {names[one]}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
            </ScrollArea>
            <Tabs.Panel value="overview">
              <FolderOverview folder={folder} acts={acts} />
            </Tabs.Panel>
            <Tabs.Panel value="sharing">
              <SharingTab folder={folder} acts={acts} />
            </Tabs.Panel>
            <Tabs.Panel value="access">
              <AccessTab folder={folder} />
            </Tabs.Panel>
            <Tabs.Panel value="sessions">
              <MountsTab folder={folder} />
            </Tabs.Panel>
            <Tabs.Panel value="tasks">
              <TasksTab folder={folder} />
            </Tabs.Panel>
          </Tabs>
        </Stack>
      )}
    </DetailDrawer>
  );
}

interface ButtonsProps extends Pick<Props, "acts" | "onAct" | "onBrowse"> {
  folder: Folder;
  onGone: () => void;
}

function DrawerButtons({ folder, acts, onAct, onBrowse, onGone }: ButtonsProps) {
  const { t } = useLingui();
  if (["TRASHED", "DELETING"].includes(folder.state)) {
    return (
      <>
        <MainButton
          icon={IconArrowBackUp}
          label={t`Restore…`}
          refusal={acts.whyNotRestore(folder)}
          onClick={() => acts.restore([folder])}
        />
        <MainButton
          variant="light"
          color="red"
          icon={IconTrash}
          label={t`Delete permanently…`}
          refusal={acts.whyNotDelete(folder)}
          onClick={() => acts.remove([folder], onGone)}
        />
      </>
    );
  }
  return (
    <>
      <MainButton
        icon={IconFolderOpen}
        label={t`Open files`}
        refusal={acts.whyNotOpen(folder)}
        onClick={() => onBrowse(folder)}
      />
      <MainButton
        variant="default"
        label={t`Clone…`}
        refusal={acts.whyNotClone(folder)}
        onClick={() => onAct("clone", folder)}
      />
      <MainButton
        variant="default"
        label={t`Move…`}
        refusal={acts.whyNotMove(folder)}
        onClick={() => onAct("move", folder)}
      />
      <MainButton
        variant="default"
        label={t`Transfer ownership…`}
        refusal={acts.whyNotHandOver(folder)}
        onClick={() => onAct("hand-over", folder)}
      />
      <MainButton
        variant="light"
        color="red"
        icon={IconTrash}
        label={t`Move to trash…`}
        refusal={acts.whyNotTrash(folder)}
        onClick={() => acts.trash([folder], onGone)}
      />
    </>
  );
}
