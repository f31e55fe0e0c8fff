import { Trans, useLingui } from "@lingui/react/macro";
import { Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { SessionTimeline } from "@/api/types";
import { sessionsTimelineQuery } from "@/queries/sessions";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { useNow } from "@/ui/use-now";
import styles from "./StartTimeline.module.css";
import { formatLasted, STEP_WORDS } from "./start-steps";
import { TimelineTable } from "./TimelineTable";
import { type TimelineRow, timelineRows } from "./timeline-layout";

/** How long each step of the last start of a session took. */
export function StartTimeline({ id }: { id: string }) {
  const timeline = useQuery(sessionsTimelineQuery(id));
  if (timeline.isPending) return <Skeleton height={120} />;
  if (timeline.isError)
    return <ProblemAlert problem={timeline.error} onRetry={() => void timeline.refetch()} />;
  return <TimelineChart timeline={timeline.data} />;
}

/** The steps as bars with their names and durations. */
export function TimelineChart({ timeline }: { timeline: SessionTimeline }) {
  const { t, i18n } = useLingui();
  const now = useNow();
  const rows = timelineRows(timeline, now);
  const clustered = rows.some((row) => row.bars.length > 1);
  return (
    <Stack gap="xs">
      <Summary timeline={timeline} now={now} />
      <ol className={styles.rows} aria-label={t`Steps of the start`}>
        {rows.map((row) => (
          <Row key={row.key} row={row} />
        ))}
      </ol>
      {clustered && (
        <div className={styles.legend} aria-hidden>
          {(["image", "container"] as const).map((step) => (
            <span key={step}>
              <span className={`${styles.key} ${styles[step]}`} />
              {i18n._(STEP_WORDS[step])}
            </span>
          ))}
        </div>
      )}
      <TimelineTable timeline={timeline} />
    </Stack>
  );
}

function Summary({ timeline, now }: { timeline: SessionTimeline; now: number }) {
  const { i18n } = useLingui();
  const { begins_at, ready_at, stopped_at, number } = timeline;
  const end = ready_at ?? stopped_at;
  const lasted = formatLasted((end ? Date.parse(end) : now) - Date.parse(begins_at), i18n.locale);
  return (
    <Text size="sm">
      {ready_at ? (
        <Trans>Running after {lasted}</Trans>
      ) : stopped_at ? (
        <Trans>Given up after {lasted}</Trans>
      ) : (
        <Trans>Starting for {lasted}</Trans>
      )}
      {number > 1 && (
        <Text span size="xs" c="dimmed">
          {" · "}
          <Trans>start {number}</Trans>
        </Text>
      )}
    </Text>
  );
}

function Row({ row }: { row: TimelineRow }) {
  const { t, i18n } = useLingui();
  const name = row.of ?? i18n._(STEP_WORDS[row.step]);
  const now = row.bars.at(-1);
  const took = row.goesOn
    ? t`in progress`
    : row.lasted === null
      ? t`not completed`
      : formatLasted(row.lasted, i18n.locale);
  return (
    <li className={styles.row}>
      <span className={styles.label} title={name}>
        {name}
      </span>
      <span className={styles.track} aria-hidden>
        {row.bars.map((bar) => (
          <span
            key={bar.step}
            className={`${styles.bar} ${styles[bar.step]} ${row.goesOn && bar === now ? styles.goesOn : ""}`}
            style={{ insetInlineStart: `min(${bar.left}%, 100% - 2px)`, width: `${bar.width}%` }}
          />
        ))}
      </span>
      <span className={styles.took}>{took}</span>
    </li>
  );
}
