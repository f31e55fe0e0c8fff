import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Stack, Text } from "@mantine/core";
import type { SessionDetail } from "@/api/types";
import { IdleRules } from "@/features/idle/IdleRules";
import { Age } from "@/features/sessions/Age";
import { createCommand } from "@/features/sessions/launcher/command";
import { requestLike } from "@/features/sessions/launcher/request";
import { SlotsText } from "@/features/sessions/SlotsText";
import { ACCESS_LEVELS } from "@/features/sessions/sharing/words";
import { UsageSparkline } from "@/features/sessions/UsageSparkline";
import { useSessionActions } from "@/features/sessions/use-actions";
import { AccountName } from "@/ui/AccountName";
import { CommandLine } from "@/ui/CommandLine";
import { CopyButton } from "@/ui/CopyButton";
import { formatDuration, formatInstant } from "@/ui/format";
import { AfterList } from "./AfterList";
import { BatchFacts } from "./BatchFacts";
import { ContainersTable } from "./ContainersTable";
import { Leftovers } from "./Leftovers";
import { MountedFolders } from "./MountedFolders";
import { mayHaveNetwork } from "./network-words";
import { RanImage } from "./RanImage";
import styles from "./SessionDrawer.module.css";
import { SessionNetwork } from "./SessionNetwork";
import { SshFacts } from "./SshFacts";
import { StartFacts } from "./StartFacts";
import { TemplateRevision } from "./TemplateRevision";

/** Details of a session. */
export function OverviewTab({ session }: { session: SessionDetail }) {
  const { t, i18n } = useLingui();
  const at = (instant: string | null | undefined) => (instant ? formatInstant(instant, i18n.locale) : "–");
  const usable = useSessionActions().whyNotUse(session) === null;
  const folderName = (id: string) => session.mounts.find((one) => one.folder_id === id)?.folder_name ?? id;
  const again = createCommand(requestLike(session), folderName);
  return (
    <Stack gap="lg">
      <Leftovers session={session} />
      <dl className={styles.facts}>
        <dt>
          <Trans>Id</Trans>
        </dt>
        <dd>
          <Group gap={2}>
            <span className={styles.mono}>{session.id}</span>
            <CopyButton text={session.id} label={t`Copy ID`} />
          </Group>
        </dd>
        {session.description && (
          <>
            <dt>
              <Trans>Description</Trans>
            </dt>
            <dd>{session.description}</dd>
          </>
        )}
        {session.template && (
          <>
            <dt>
              <Trans>Template</Trans>
            </dt>
            <dd>
              <TemplateRevision {...session.template} />
            </dd>
          </>
        )}
        {session.kind === "batch" && <BatchFacts session={session} />}
        <dt>
          <Trans>Image</Trans>
        </dt>
        <dd>
          {session.image_name && <>{session.image_name} </>}
          <span className={styles.mono}>{session.image}</span>
        </dd>
        <RanImage session={session} />
        <dt>
          <Trans>Slots</Trans>
        </dt>
        <dd>
          <SlotsText slots={session.slots} />
        </dd>
        {session.state === "RUNNING" && (
          <>
            <dt>
              <Trans>In use</Trans>
            </dt>
            <dd>
              <Group gap="lg">
                <UsageSparkline session={session} slot="cpu" />
                <UsageSparkline session={session} slot="mem" />
              </Group>
            </dd>
            <IdleRules session={session} />
          </>
        )}
        <dt>
          <Trans>Project</Trans>
        </dt>
        <dd>{session.project.name}</dd>
        <dt>
          <Trans>Resource group</Trans>
        </dt>
        <dd>{session.group.name}</dd>
        {session.accepted_groups.length > 1 && (
          <>
            <dt>
              <Trans>Accepts</Trans>
            </dt>
            <dd>{session.accepted_groups.map(({ name }) => name).join(", ")}</dd>
          </>
        )}
        <dt>
          <Trans>Priority</Trans>
        </dt>
        <dd>{session.priority}</dd>
        {session.time_limit_s !== null && (
          <>
            <dt>
              <Trans>Time limit</Trans>
            </dt>
            <dd>{formatDuration(session.time_limit_s * 1000, i18n.locale)}</dd>
          </>
        )}
        {session.rights === "root" && (
          <>
            <dt>
              <Trans>Rights</Trans>
            </dt>
            <dd>
              <Trans>Root inside</Trans>
            </dd>
          </>
        )}
        {session.after.length > 0 && (
          <>
            <dt>
              <Trans>Starts after</Trans>
            </dt>
            <dd>
              <AfterList after={session.after} />
            </dd>
          </>
        )}
        <StartFacts session={session} />
        <dt>
          <Trans>Owner</Trans>
        </dt>
        <dd>
          <AccountName email={session.owner.email} />
          {session.shared_as && <> · {i18n._(ACCESS_LEVELS[session.shared_as].mine)}</>}
        </dd>
        <dt>
          <Trans>Node</Trans>
        </dt>
        <dd>{session.node ?? "–"}</dd>
        {session.mounts.length > 0 && (
          <>
            <dt>
              <Trans>Folders</Trans>
            </dt>
            <dd>
              <MountedFolders mounts={session.mounts} />
            </dd>
          </>
        )}
        <dt>
          <Trans>Created</Trans>
        </dt>
        <dd>{at(session.created_at)}</dd>
        {session.start_at && (
          <>
            <dt>
              <Trans>Starts after</Trans>
            </dt>
            <dd>{at(session.start_at)}</dd>
          </>
        )}
        <dt>
          <Trans context="time">Started</Trans>
        </dt>
        <dd>{at(session.started_at)}</dd>
        <dt>
          <Trans>Ended</Trans>
        </dt>
        <dd>{at(session.ended_at)}</dd>
        {session.started_at && (
          <>
            <dt>{session.ended_at ? <Trans>Ran for</Trans> : <Trans>Running for</Trans>}</dt>
            <dd>
              <Age since={session.started_at} until={session.ended_at} />
            </dd>
          </>
        )}
      </dl>
      {session.cluster_size > 1 && <ContainersTable session={session} />}
      {mayHaveNetwork(session) && <SessionNetwork session={session} usable={usable} />}
      {session.state === "RUNNING" && usable && <SshFacts session={session} />}
      <Stack gap={6}>
        <Text size="sm" fw={500}>
          <Trans>Command line</Trans>
        </Text>
        {session.state === "RUNNING" && usable && (
          <CommandLine text={`carrel session terminal ${session.id}`} />
        )}
        {session.roles.length > 0 ? (
          <CommandLine text={`carrel session export ${session.id} | carrel session create -f -`} />
        ) : (
          <CommandLine text={again} />
        )}
      </Stack>
    </Stack>
  );
}
