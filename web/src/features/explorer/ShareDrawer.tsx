import { useLingui } from "@lingui/react/macro";
import type { Folder } from "@/api/types";
import { SharingTab } from "@/features/folders/SharingTab";
import { useFolderActs } from "@/features/folders/use-folder-acts";
import { FormDrawer } from "@/ui/form/FormDrawer";

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
    <FormDrawer
      opened={opened}
      onClose={onClose}
      size="xl"
      title={t`Share ${folder.name}`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      <SharingTab folder={folder} acts={acts} />
    </FormDrawer>
  );
}
