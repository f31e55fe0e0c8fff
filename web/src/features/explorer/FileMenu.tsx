import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Menu } from "@mantine/core";
import {
  IconCopy,
  IconCursorText,
  IconDots,
  IconDownload,
  IconEye,
  IconFolderOpen,
  IconPencil,
  IconSend2,
  IconTrash,
} from "@tabler/icons-react";
import type { FileEntry } from "@/api/types";
import { isEditable } from "./kinds";
import type { FileActs } from "./use-file-acts";

interface Props {
  entry: FileEntry;
  acts: FileActs;
  onOpen: (entry: FileEntry) => void;
  onEdit: (entry: FileEntry) => void;
  onRename: () => void;
}

/** Context menu of a file or directory. */
export function FileMenu({ entry, acts, onOpen, onEdit, onRename }: Props) {
  const { t } = useLingui();
  const directory = entry.kind === "directory";
  const downloadable = directory || entry.kind === "file";
  const unreadable = entry.readable ? null : t`The name is not valid UTF-8. Rename it in a session.`;
  const items = [
    downloadable && {
      label: directory ? t`Open` : t`Preview`,
      icon: directory ? IconFolderOpen : IconEye,
      why: unreadable,
      act: () => onOpen(entry),
    },
    entry.kind === "file" &&
      isEditable(entry.name) && {
        label: t`Edit`,
        icon: IconPencil,
        why: unreadable ?? acts.whyNotWrite,
        act: () => onEdit(entry),
      },
    downloadable && {
      label: directory ? t`Download as zip` : t`Download`,
      icon: IconDownload,
      why: unreadable,
      act: () => void acts.download([entry.path]),
    },
    { label: t`Rename`, icon: IconCursorText, why: unreadable ?? acts.whyNotWrite, act: onRename },
    {
      label: t`Move to…`,
      icon: IconSend2,
      why: unreadable ?? acts.whyNotWrite,
      act: () => acts.askWhere("move", [entry]),
    },
    { label: t`Copy to…`, icon: IconCopy, why: unreadable, act: () => acts.askWhere("copy", [entry]) },
    {
      label: t`Delete…`,
      icon: IconTrash,
      why: unreadable ?? acts.whyNotRemove,
      act: () => acts.remove([entry]),
      red: true,
    },
  ].filter((item) => item !== false);
  return (
    <Menu position="bottom-end" withinPortal returnFocus>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          tabIndex={-1}
          aria-label={t`Actions for ${entry.name}`}
        >
          <IconDots size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {items.map(({ label, icon: Icon, why, act, ...rest }) => (
          <Menu.Item
            key={label}
            leftSection={<Icon size={16} stroke={1.7} aria-hidden />}
            color={"red" in rest && !why ? "red" : undefined}
            title={why ?? undefined}
            aria-disabled={why ? true : undefined}
            data-disabled={why ? true : undefined}
            aria-label={why ? `${label}. ${why}` : undefined}
            closeMenuOnClick={!why}
            onClick={why ? undefined : act}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
