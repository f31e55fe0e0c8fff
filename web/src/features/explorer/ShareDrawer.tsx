import { useLingui } from "@lingui/react/macro";
import { Drawer } from "@mantine/core";
import type { Folder } from "@/api/types";
import { SharingTab } from "@/features/folders/SharingTab";
import { useFolderActs } from "@/features/folders/use-folder-acts";

interface Props {
  folder: Folder;
  opened: boolean;
  onClose: () => void;
}

/** Sharing of the folder, over its files. */
export function ShareDrawer({ folder, opened, onClose }: Props) {
  const { t } = useLingui();
  const acts = useFolderActs();
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      size="xl"
      title={t`Share ${folder.name}`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      <SharingTab folder={folder} acts={acts} />
    </Drawer>
  );
}
