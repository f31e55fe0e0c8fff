import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Group, Menu, Tooltip } from "@mantine/core";
import {
  IconArrowBackUp,
  IconCopy,
  IconDoorExit,
  IconDots,
  IconFolderOpen,
  IconSend,
  IconServer2,
  IconShare,
  IconTrash,
} from "@tabler/icons-react";
import type { Folder } from "@/api/types";
import type { FolderAct } from "@/routing/search";
import { RowTool } from "@/ui/table/RowTool";
import type { FolderActs } from "./use-folder-acts";

interface Props {
  folder: Folder;
  acts: FolderActs;
  onBrowse: (folder: Folder) => void;
  onShare: (folder: Folder) => void;
  onAct: (act: FolderAct, folder: Folder) => void;
}

/** The row buttons of a folder. */
export function FolderTools({ folder, acts, onBrowse, onShare, onAct }: Props) {
  const { t } = useLingui();
  const { name } = folder;
  if (["TRASHED", "DELETING"].includes(folder.state)) {
    return (
      <Group gap={0} wrap="nowrap" justify="flex-end">
        <RowTool
          label={t`Restore`}
          row={name}
          icon={IconArrowBackUp}
          refusal={acts.whyNotRestore(folder)}
          onClick={() => acts.restore([folder])}
        />
        <RowTool
          label={t`Delete permanently`}
          row={name}
          icon={IconTrash}
          color="red"
          refusal={acts.whyNotDelete(folder)}
          onClick={() => acts.remove([folder])}
        />
      </Group>
    );
  }
  return (
    <Group gap={0} wrap="nowrap" justify="flex-end">
      <RowTool
        label={t`Files`}
        row={name}
        icon={IconFolderOpen}
        refusal={acts.whyNotOpen(folder)}
        onClick={() => onBrowse(folder)}
      />
      <RowTool
        label={t`Share`}
        row={name}
        icon={IconShare}
        refusal={acts.whyNotShare(folder)}
        onClick={() => onShare(folder)}
      />
      <MoreMenu folder={folder} acts={acts} onAct={onAct} />
    </Group>
  );
}

function MoreMenu({ folder, acts, onAct }: Pick<Props, "folder" | "acts" | "onAct">) {
  const { t } = useLingui();
  const items = [
    { label: t`Clone…`, icon: IconCopy, why: acts.whyNotClone(folder), act: () => onAct("clone", folder) },
    {
      label: t`Move to another host…`,
      icon: IconServer2,
      why: acts.whyNotMove(folder),
      act: () => onAct("move", folder),
    },
    {
      label: t`Transfer ownership…`,
      icon: IconSend,
      why: acts.whyNotHandOver(folder),
      act: () => onAct("hand-over", folder),
    },
    ...(!folder.mine && folder.my_permission !== null && !folder.project
      ? [{ label: t`Leave…`, icon: IconDoorExit, why: null, act: () => acts.leave(folder) }]
      : []),
    folder.state === "FAILED"
      ? {
          label: t`Delete permanently…`,
          icon: IconTrash,
          why: acts.whyNotDelete(folder),
          act: () => acts.remove([folder]),
          color: "red",
        }
      : {
          label: t`Move to trash…`,
          icon: IconTrash,
          why: acts.whyNotTrash(folder),
          act: () => acts.trash([folder]),
          color: "red",
        },
  ];
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t`More: ${folder.name}`}>
          <IconDots size={17} stroke={1.7} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {items.map(({ label, icon: Icon, why, act, ...rest }) => (
          <Tooltip key={label} label={why} disabled={!why} multiline maw={280} position="left">
            <Menu.Item
              leftSection={<Icon size={16} stroke={1.7} aria-hidden />}
              color={"color" in rest && !why ? rest.color : undefined}
              aria-disabled={why ? true : undefined}
              data-disabled={why ? true : undefined}
              aria-label={why ? `${label} ${why}` : undefined}
              closeMenuOnClick={!why}
              onClick={why ? undefined : act}
            >
              {label}
            </Menu.Item>
          </Tooltip>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
