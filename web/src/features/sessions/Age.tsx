import { useLingui } from "@lingui/react/macro";
import { formatDuration, formatInstant } from "@/ui/format";
import { useNow } from "@/ui/use-now";

/** The age, updated every second. */
export function Age({ since, until }: { since: string; until?: string | null }) {
  const { i18n } = useLingui();
  const now = useNow();
  const end = until ? Date.parse(until) : now;
  return (
    <time dateTime={since} title={formatInstant(since, i18n.locale)}>
      {formatDuration(end - Date.parse(since), i18n.locale)}
    </time>
  );
}
