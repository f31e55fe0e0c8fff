import { Trans, useLingui } from "@lingui/react/macro";
import { formatDuration } from "@/ui/format";
import { useNow } from "@/ui/use-now";

/** When a session ends because nobody seems to use it, counting down. */
export function IdleText({ endsAt }: { endsAt: string }) {
  const { i18n } = useLingui();
  const left = Math.max(0, Date.parse(endsAt) - useNow());
  const duration = formatDuration(left, i18n.locale);
  return <Trans>Nobody seems to use it: it ends in {duration}.</Trans>;
}
