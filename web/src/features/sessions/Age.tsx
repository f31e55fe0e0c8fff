import { useLingui } from "@lingui/react/macro";
import type { Session } from "@/api/types";
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

/** How long a session has run, or did run; a dash if it never started. */
export function Duration({ session }: { session: Session }) {
  return session.started_at ? <Age since={session.started_at} until={session.ended_at} /> : "–";
}
