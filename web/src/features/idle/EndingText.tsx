import { Trans, useLingui } from "@lingui/react/macro";
import type { Session } from "@/api/types";
import { formatDuration } from "@/ui/format";
import { useNow } from "@/ui/use-now";
import { leftUntil } from "./left";

/** Countdown until a session ends for being idle or at its time limit, whichever is first. */
export function EndingText({ session }: { session: Session }) {
  const { i18n } = useLingui();
  const now = useNow();
  const end = endingOf(session);
  if (!end) return null;
  const left = leftUntil(end.at, now);
  const duration = left === null ? null : formatDuration(left, i18n.locale);
  if (end.idle) {
    if (duration === null) return <Trans>Idle: terminates any moment.</Trans>;
    return <Trans>Idle: terminates in {duration}.</Trans>;
  }
  if (duration === null) return <Trans>Time limit: terminates any moment.</Trans>;
  return <Trans>Time limit: terminates in {duration}.</Trans>;
}

/** The announced end of a session; null: none is. idle: keeping it prevents the end; otherwise a longer limit does. */
export function endingOf({
  idle_ends_at: idle,
  limit_ends_at: limit,
}: Pick<Session, "idle_ends_at" | "limit_ends_at">): { at: string; idle: boolean } | null {
  if (idle && !(limit && Date.parse(limit) < Date.parse(idle))) return { at: idle, idle: true };
  return limit ? { at: limit, idle: false } : null;
}
