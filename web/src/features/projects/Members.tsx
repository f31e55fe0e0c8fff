import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Group, Paper, Skeleton, Stack, Switch, Text, Tooltip } from "@mantine/core";
import { IconUserMinus } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import type { Member, MountedIn, WholeProject } from "@/api/types";
import { StillMounted } from "@/features/folders/StillMounted";
import { mayBeyondOwn } from "@/me/may";
import { useMe } from "@/me/use-me";
import { membersListQuery, useAppointMember, useRemoveMember } from "@/queries/members";
import { commandLine } from "@/ui/command";
import { EmptyState } from "@/ui/EmptyState";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { MoreButton } from "@/ui/MoreButton";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { StateBadge } from "@/ui/StateBadge";
import { RowTool } from "@/ui/table/RowTool";
import { SearchBox } from "@/ui/table/SearchBox";
import { AddMembers } from "./AddMembers";

interface Props {
  project: WholeProject;
  /** Why the user may not change the members; null if they may. */
  refusal: string | null;
}

/** The members of a project, and its administrators. */
export function Members({ project, refusal }: Props) {
  const { t } = useLingui();
  const [q, setQ] = useState<string>();
  const list = useInfiniteQuery(membersListQuery(project.id, useDeferredValue(q ?? "")));
  const appoint = useAppointMember();
  const [kept, setKept] = useState<MountedIn[]>([]);
  const members = (list.data?.pages ?? []).flatMap((page) => page.items);
  return (
    <Stack gap="sm">
      {refusal ? (
        <Text size="sm" c="dimmed">
          {refusal}
        </Text>
      ) : (
        <AddMembers project={project} />
      )}
      {(project.members > 8 || q) && (
        <SearchBox
          label={t`Search by e-mail or name`}
          placeholder={t`E-mail or name`}
          value={q}
          onChange={setQ}
        />
      )}
      {list.isPending && <Skeleton height={120} aria-busy />}
      {list.isError && <ProblemAlert problem={list.error} onRetry={() => void list.refetch()} />}
      {appoint.error && <ProblemAlert problem={appoint.error} />}
      <StillMounted mounts={kept} onClose={() => setKept([])} />
      {list.data && members.length === 0 && (
        <EmptyState title={q ? t`No members match the filter` : t`No members yet`} />
      )}
      {members.map((member) => (
        <MemberRow
          key={member.id}
          member={
            // Optimistic: the switch shows the pending value until the server responds.
            appoint.isPending && appoint.variables.user === member.id
              ? { ...member, admin: appoint.variables.admin }
              : member
          }
          project={project}
          refusal={refusal}
          onAdmin={(admin) => appoint.mutate({ project: project.id, user: member.id, admin })}
          onRemoved={setKept}
        />
      ))}
      <MoreButton list={list} />
    </Stack>
  );
}

interface RowProps extends Props {
  member: Member;
  onAdmin: (admin: boolean) => void;
  /** Receives the removed member's live sessions that still mount project folders. */
  onRemoved: (kept: MountedIn[]) => void;
}

function MemberRow({ member, project, refusal, onAdmin, onRemoved }: RowProps) {
  const { t } = useLingui();
  const me = useMe();
  const remove = useRemoveMember();
  const ask = () =>
    askToConfirm({
      title: t`Remove member`,
      closeLabel: t`Close`,
      confirm: t`Remove`,
      command: commandLine("carrel", "project", "expel", project.name, member.email),
      onConfirm: async () =>
        onRemoved((await remove.mutateAsync({ project: project.id, user: member.id })).still_mounted),
      children: (
        <Trans>
          <b>{member.email}</b> can no longer start sessions in {project.name}. Live sessions keep running.
        </Trans>
      ),
    });
  return (
    <Paper withBorder p="xs">
      <Group justify="space-between" wrap="nowrap">
        <div style={{ minWidth: 0 }}>
          <Group gap="xs">
            {mayBeyondOwn(me, "user.read") ? (
              <Anchor
                size="sm"
                fw={500}
                style={{ overflowWrap: "anywhere" }}
                renderRoot={(props) => <Link {...props} to="/users" search={{ user: member.id }} />}
              >
                {member.email}
              </Anchor>
            ) : (
              <Text size="sm" fw={500}>
                {member.email}
              </Text>
            )}
            {member.state !== "active" && (
              <StateBadge look="off">
                <Trans>inactive</Trans>
              </StateBadge>
            )}
          </Group>
          <Text size="xs" c="dimmed">
            {member.name}
          </Text>
        </div>
        <Group gap="xs" wrap="nowrap">
          <Tooltip label={refusal} disabled={!refusal} multiline maw={280}>
            <Switch
              size="xs"
              label={<Trans>Administrator</Trans>}
              aria-label={t`${member.email} is an administrator`}
              checked={member.admin}
              disabled={refusal !== null}
              onChange={(event) => onAdmin(event.currentTarget.checked)}
            />
          </Tooltip>
          <RowTool
            label={t`Remove`}
            row={member.email}
            icon={IconUserMinus}
            refusal={refusal}
            onClick={ask}
          />
        </Group>
      </Group>
    </Paper>
  );
}
