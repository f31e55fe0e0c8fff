import { Trans, useLingui } from "@lingui/react/macro";
import { formatDuration } from "@/ui/format";
import { useNow } from "@/ui/use-now";
import { leftUntil } from "./left";

/** Countdown until a session ends for being idle. */
export function IdleText({ endsAt }: { endsAt: string }) {
  const { i18n } = useLingui();
  const left = leftUntil(endsAt, useNow());
  if (left === null) return <Trans>Idle: terminates any moment.</Trans>;
  const duration = formatDuration(left, i18n.locale);
  return <Trans>Idle: terminates in {duration}.</Trans>;
}
