import { Trans, useLingui } from "@lingui/react/macro";
import { Stack, Text, Title } from "@mantine/core";
import {
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerTrackNext,
  IconTrash,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Schedule, SessionCreate } from "@/api/types";
import { RequestSummary } from "@/features/sessions/launcher/RequestSummary";
import { schedulesShowQuery } from "@/queries/schedules";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { Facts } from "@/ui/Facts";
import { MainButton } from "@/ui/MainButton";
import { ActiveBadge } from "@/ui/StateBadge";
import { TimeList } from "./NextTimes";
import { RunsTable } from "./RunsTable";
import { useCronWords } from "./use-cron-words";
import type { ScheduleActs } from "./use-schedule-acts";
import { MISSED, OVERLAPS } from "./words";

interface Props {
  opened: boolean;
  id: string;
  acts: ScheduleActs;
  onEdit: (schedule: Schedule) => void;
  onClose: () => void;
}

/** Details of a schedule: its times, the history of its runs, and what it starts. */
export function ScheduleDrawer({ opened, id, acts, onEdit, onClose }: Props) {
  const { t } = useLingui();
  const query = useQuery(schedulesShowQuery(id));
  const schedule = query.data;
  return (
    <DetailDrawer
      opened={opened}
      id={id}
      title={schedule?.name ?? t`Recurring run`}
      query={query}
      state={
        schedule && (
          <ActiveBadge active={schedule.active}>
            {schedule.active ? <Trans>Active</Trans> : <Trans>Paused</Trans>}
          </ActiveBadge>
        )
      }
      actions={schedule && <Actions schedule={schedule} acts={acts} onEdit={onEdit} />}
      onClose={onClose}
    >
      {schedule && <Content schedule={schedule} />}
    </DetailDrawer>
  );
}

function Actions({ schedule, acts, onEdit }: Pick<Props, "acts" | "onEdit"> & { schedule: Schedule }) {
  const { t } = useLingui();
  const { active } = schedule;
  return (
    <>
      <MainButton
        variant="default"
        icon={IconPlayerTrackNext}
        label={t`Run now`}
        refusal={acts.whyNotRun(schedule)}
        onClick={() => void acts.run(schedule)}
      />
      <MainButton
        variant="default"
        icon={active ? IconPlayerPause : IconPlayerPlay}
        label={active ? t`Pause` : t`Resume`}
        refusal={acts.whyNotPause(schedule)}
        onClick={() => void acts.setActive(schedule, !active)}
      />
      <MainButton
        variant="default"
        icon={IconPencil}
        label={t`Edit`}
        refusal={acts.whyNotChange(schedule)}
        onClick={() => onEdit(schedule)}
      />
      <MainButton
        variant="light"
        color="red"
        icon={IconTrash}
        label={t`Delete…`}
        refusal={acts.whyNotRemove(schedule)}
        onClick={() => acts.remove(schedule)}
      />
    </>
  );
}

function Content({ schedule }: { schedule: Schedule }) {
  const { t, i18n } = useLingui();
  const words = useCronWords();
  const { cron, timezone, next_times: next } = schedule;
  return (
    <Stack gap="lg">
      <Facts
        facts={[
          [t`Repeats`, words(cron)],
          [t`Cron expression`, <code key="cron">{cron}</code>],
          [t`Time zone`, timezone],
          [
            t`Next runs`,
            next.length > 0 ? <TimeList key="next" times={next} timezone={timezone} /> : t`none`,
          ],
          [t`If an earlier run is not over`, i18n._(OVERLAPS[schedule.overlap])],
          [t`Runs missed while Carrel was down`, i18n._(MISSED[schedule.missed])],
          [t`Owner`, schedule.owner.email],
        ]}
      />
      <section aria-label={t`Runs`}>
        <Title order={3} size="h5" mb="xs">
          <Trans>Runs</Trans>
        </Title>
        <RunsTable schedule={schedule.id} />
      </section>
      <section aria-label={t`Session`}>
        <Title order={3} size="h5" mb={4}>
          <Trans>Session</Trans>
        </Title>
        <Text size="xs" c="dimmed" mb="xs">
          <Trans>What is started each time.</Trans>
        </Text>
        <RequestSummary request={schedule.session as unknown as SessionCreate} />
      </section>
    </Stack>
  );
}
