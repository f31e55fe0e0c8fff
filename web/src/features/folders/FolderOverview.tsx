import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Group, Select, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { Folder, FolderUpdate, Permission, UsageMode } from "@/api/types";
import { useUpdateFolder } from "@/queries/folders";
import { CommandLine } from "@/ui/CommandLine";
import { CopyButton } from "@/ui/CopyButton";
import { commandLine } from "@/ui/command";
import { Facts } from "@/ui/Facts";
import { formatInstant, formatSize } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { FolderStateBadge, OwnerText, PermissionText } from "./badges";
import { RenameFolder } from "./RenameFolder";
import { TaskBar } from "./TaskBar";
import type { FolderActs } from "./use-folder-acts";
import { PERMISSION_ORDER, PERMISSIONS, USAGE_MODE_NAMES } from "./words";

/** Details of a folder, with forms for its name, description and default permission. */
export function FolderOverview({ folder, acts }: { folder: Folder; acts: FolderActs }) {
  const { t, i18n } = useLingui();
  const update = useUpdateFolder();
  const refusal = acts.whyNotChange(folder);
  const change = (part: FolderUpdate) => update.mutate({ id: folder.id, ...part });
  const leaves = !folder.mine && folder.my_permission !== null && folder.owner !== null;
  return (
    <Stack gap="lg">
      {folder.reason && (
        <Alert
          color="red"
          variant="light"
          icon={<IconAlertTriangle size={18} aria-hidden />}
          title={t`Failed`}
        >
          {folder.reason}
        </Alert>
      )}
      {folder.task && <TaskBar task={folder.task} />}
      {folder.expires_at && (
        <Alert color="brass" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />}>
          <Trans>It is deleted permanently on {formatInstant(folder.expires_at, i18n.locale)}.</Trans>
        </Alert>
      )}
      <Facts
        facts={[
          [t`Name`, <RenameFolder key="name" folder={folder} refusal={refusal} />],
          [t`State`, <FolderStateBadge key="state" folder={folder} always />],
          [t`Owner`, <OwnerText key="owner" folder={folder} />],
          [t`Storage host`, folder.host.name],
          [t`Your permission`, <PermissionText key="mine" permission={folder.my_permission} />],
          [
            t`Permission`,
            <Select
              key="permission"
              size="xs"
              maw={280}
              aria-label={t`Permission`}
              title={refusal ?? undefined}
              disabled={refusal !== null || update.isPending}
              allowDeselect={false}
              data={PERMISSION_ORDER.map((value) => ({ value, label: i18n._(PERMISSIONS[value].title) }))}
              value={folder.permission}
              onChange={(value) => value && change({ permission: value as Permission })}
            />,
          ],
          [
            t`Usage`,
            <Select
              key="mode"
              size="xs"
              maw={280}
              aria-label={t`Usage`}
              title={refusal ?? undefined}
              disabled={refusal !== null || update.isPending}
              allowDeselect={false}
              data={(Object.keys(USAGE_MODE_NAMES) as UsageMode[]).map((value) => ({
                value,
                label: i18n._(USAGE_MODE_NAMES[value]),
              }))}
              value={folder.usage_mode}
              onChange={(value) => value && change({ usage_mode: value as UsageMode })}
            />,
          ],
          [t`Mounted automatically`, folder.automatic ? t`yes, into each new session of its owner` : t`no`],
          [
            t`Size`,
            folder.measured_at
              ? t`${formatSize(folder.used_bytes)} in ${folder.files} files, measured ${formatInstant(folder.measured_at, i18n.locale)}`
              : t`not measured yet`,
          ],
          [
            t`Id`,
            <Group key="id" gap={2} wrap="nowrap">
              <Text size="sm" ff="monospace" truncate>
                {folder.id}
              </Text>
              <CopyButton text={folder.id} label={t`Copy ID`} />
            </Group>,
          ],
          [t`Created`, <Instant key="created" at={folder.created_at} />],
        ]}
      />
      {update.error && <ProblemAlert problem={update.error} />}
      {leaves && (
        <Button
          variant="default"
          size="xs"
          style={{ alignSelf: "flex-start" }}
          onClick={() => acts.leave(folder)}
        >
          <Trans>Leave…</Trans>
        </Button>
      )}
      <Stack gap={6}>
        <Text size="sm" fw={500}>
          <Trans>Command line</Trans>
        </Text>
        <CommandLine text={commandLine("carrel", "vfolder", "show", folder.name)} />
        <CommandLine text={commandLine("carrel", "cp", "-r", "data", `${folder.name}:`)} />
        <CommandLine
          text={commandLine("carrel", "session", "create", "--image", "starter", "--mount", folder.name)}
        />
      </Stack>
    </Stack>
  );
}
