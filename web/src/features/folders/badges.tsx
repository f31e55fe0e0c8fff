import { useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Folder, Permission, Quota, StorageHost } from "@/api/types";
import { StateBadge } from "@/ui/StateBadge";
import { FOLDER_STATES, PERMISSIONS, USAGE_LEVELS } from "./words";

/** The state of a folder, unless it is the normal one. */
export function FolderStateBadge({ folder, always = false }: { folder: Folder; always?: boolean }) {
  const { i18n } = useLingui();
  if (!always && folder.state === "READY") return null;
  const { title, look } = FOLDER_STATES[folder.state];
  return <StateBadge look={look}>{i18n._(title)}</StateBadge>;
}

export function PermissionText({ permission }: { permission: Permission | null }) {
  const { t, i18n } = useLingui();
  return permission ? i18n._(PERMISSIONS[permission].title) : t`Manage only`;
}

export function LevelBadge({ level }: { level: StorageHost["level"] | Quota["level"] }) {
  const { i18n } = useLingui();
  const { title, look } = USAGE_LEVELS[level];
  return (
    <StateBadge look={look} state={level}>
      {i18n._(title)}
    </StateBadge>
  );
}

/** The owner of a folder: a user's e-mail, or a project. */
export function OwnerText({ folder }: { folder: Pick<Folder, "owner" | "project"> }) {
  const { t } = useLingui();
  const name = folder.project ? t`Project ${folder.project.name}` : (folder.owner?.email ?? "–");
  return (
    <Text size="sm" truncate title={name}>
      {name}
    </Text>
  );
}
