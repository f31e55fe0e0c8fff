import { Trans, useLingui } from "@lingui/react/macro";
import { Input, Skeleton, Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { schedulesTimesQuery } from "@/queries/schedules";
import { useProblemText } from "@/sentences/use-problem-text";
import { writing } from "@/ui/format";

const REST_MS = 250;

interface Props {
  cron: string;
  timezone: string;
}

/** The next five times of a cron expression while it is edited, or why it has none. */
export function NextTimes(props: Props) {
  const { t } = useLingui();
  const problemText = useProblemText();
  const [{ cron, timezone }] = useDebouncedValue(props, REST_MS);
  const times = useQuery({ ...schedulesTimesQuery(cron, timezone), enabled: cron !== "" && timezone !== "" });
  return (
    <Input.Wrapper label={t`Next runs`} labelElement="div" aria-live="polite">
      {times.isError ? (
        <Text size="sm" c="red" role="status">
          {problemText(times.error).detail}
        </Text>
      ) : times.data ? (
        <TimeList times={times.data} timezone={timezone} />
      ) : (
        <Skeleton height={100} aria-busy={times.isFetching} animate={times.isFetching} />
      )}
    </Input.Wrapper>
  );
}

/** Times in a time zone, with the user's own where it differs. */
export function TimeList({ times, timezone }: { times: readonly string[]; timezone: string }) {
  const { i18n } = useLingui();
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const text = (at: string, timeZone: string) =>
    new Intl.DateTimeFormat(writing(i18n.locale), {
      weekday: "short",
      year: "numeric",
      month: "short",
      day: "numeric",
      hour: "2-digit",
      minute: "2-digit",
      timeZone,
    }).format(new Date(at));
  return (
    <Stack gap={2} component="ul" m={0} p={0} style={{ listStyle: "none" }} data-times>
      {times.map((at) => (
        <Text size="sm" component="li" key={at}>
          <time dateTime={at}>{text(at, timezone)}</time>
          {text(at, own) !== text(at, timezone) && (
            <Text span size="xs" c="dimmed">
              {" · "}
              <Trans>your time: {text(at, own)}</Trans>
            </Text>
          )}
        </Text>
      ))}
    </Stack>
  );
}
