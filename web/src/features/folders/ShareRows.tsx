import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Select, Stack, Text, Title } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconUserMinus } from "@tabler/icons-react";
import type { Folder, FolderShare, MountedIn, Permission } from "@/api/types";
import { useChangeShare, useRevokeShare } from "@/queries/shares";
import { useProblemText } from "@/sentences/use-problem-text";
import { commandLine } from "@/ui/command";
import { EmptyState } from "@/ui/EmptyState";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { formatInstant } from "@/ui/format";
import { StateBadge } from "@/ui/StateBadge";
import { RowTool } from "@/ui/table/RowTool";
import { PERMISSION_ORDER, PERMISSIONS } from "./words";

interface Props {
  folder: Folder;
  shares: FolderShare[];
  /** Why changes are refused; null if they are allowed. */
  refusal: string | null;
  /** Receives the live sessions that keep the previous permission. */
  onChanged: (still: MountedIn[]) => void;
}

/** The shares of a folder with their permissions. */
export function ShareRows({ folder, shares, refusal, onChanged }: Props) {
  const { t } = useLingui();
  if (shares.length === 0) return <EmptyState title={t`Not shared`} />;
  return (
    <Stack gap="xs" component="section">
      <Title order={3} size="h6">
        <Trans>Shared with</Trans>
      </Title>
      {shares.map((share) => (
        <ShareRow key={share.id} folder={folder} share={share} refusal={refusal} onChanged={onChanged} />
      ))}
    </Stack>
  );
}

function ShareRow({ folder, share, refusal, onChanged }: Omit<Props, "shares"> & { share: FolderShare }) {
  const { t, i18n } = useLingui();
  const problemText = useProblemText();
  const change = useChangeShare();
  const revoke = useRevokeShare();
  const who = share.project ? t`Project ${share.project.name}` : (share.user?.email ?? "–");
  const since = formatInstant(share.accepted_at ?? share.created_at, i18n.locale);
  const changeTo = (permission: Permission) =>
    change.mutate(
      { folder: folder.id, share: share.id, permission },
      {
        onSuccess: ({ still_mounted }) => onChanged(still_mounted),
        onError: (thrown) =>
          notifications.show({
            color: "red",
            title: t`Could not change the permission of ${who}`,
            message: problemText(thrown).detail,
          }),
      },
    );
  const takeBack = () =>
    askToConfirm({
      title: t`Stop sharing`,
      closeLabel: t`Close`,
      confirm: t`Stop sharing`,
      command: commandLine("carrel", "vfolder", "unshare", folder.name, share.id),
      onConfirm: async () =>
        onChanged((await revoke.mutateAsync({ folder: folder.id, share: share.id })).still_mounted),
      children: (
        <Trans>
          <b>{who}</b> loses access to <b>{folder.name}</b>. Live sessions keep it mounted until they end.
        </Trans>
      ),
    });
  return (
    <Group gap="xs" justify="space-between">
      <Stack gap={0} style={{ minWidth: 0, flex: "1 1 12rem" }}>
        <Group gap="xs" wrap="nowrap">
          <Text size="sm" truncate title={who}>
            {who}
          </Text>
          {share.state === "invited" && (
            <StateBadge look="waiting">
              <Trans>invited</Trans>
            </StateBadge>
          )}
        </Group>
        <Text size="xs" c="dimmed">
          <Trans>since {since}</Trans>
        </Text>
      </Stack>
      <Select
        size="xs"
        w={190}
        aria-label={t`Permission of ${who}`}
        allowDeselect={false}
        disabled={refusal !== null || change.isPending}
        data={PERMISSION_ORDER.map((value) => ({ value, label: i18n._(PERMISSIONS[value].title) }))}
        value={share.permission}
        onChange={(value) => value && changeTo(value as Permission)}
      />
      <RowTool
        label={share.state === "invited" ? t`Cancel invitation` : t`Stop sharing`}
        row={who}
        icon={IconUserMinus}
        color="red"
        refusal={refusal}
        onClick={takeBack}
      />
    </Group>
  );
}
