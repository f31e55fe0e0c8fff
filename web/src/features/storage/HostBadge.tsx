import { useLingui } from "@lingui/react/macro";
import type { StorageHost } from "@/api/types";
import { StateBadge } from "@/ui/StateBadge";
import { HOST_STATES } from "./words";

/** Whether a storage host is available and accepts new folders. */
export function HostBadge({ host }: { host: StorageHost }) {
  const { t, i18n } = useLingui();
  const { title, look } = HOST_STATES[host.state];
  const word = i18n._(title);
  return (
    <StateBadge look={look === "ok" && !host.active ? "closed" : look} state={host.state}>
      {host.active ? word : t`${word}, closed for new folders`}
    </StateBadge>
  );
}
