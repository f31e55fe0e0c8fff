import { useLingui } from "@lingui/react";
import type { ImageWatch } from "@/api/types";
import { StateBadge } from "@/ui/StateBadge";
import { WATCH_STATES } from "./image-words";

/** Whether an update of a watched image is available. */
export function WatchBadge({ state }: { state: ImageWatch["state"] }) {
  const { i18n } = useLingui();
  return (
    <StateBadge look={WATCH_STATES[state].look} state={state}>
      {i18n._(WATCH_STATES[state].title)}
    </StateBadge>
  );
}
