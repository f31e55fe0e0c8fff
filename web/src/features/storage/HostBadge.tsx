import { useLingui } from "@lingui/react/macro";
import type { StorageHost } from "@/api/types";
import { ToneBadge } from "@/ui/ToneBadge";
import { HOST_STATES } from "./words";

/** Whether a storage host is available and accepts new folders. */
export function HostBadge({ host }: { host: StorageHost }) {
  const { t, i18n } = useLingui();
  const { title, tone } = HOST_STATES[host.state];
  const word = i18n._(title);
  return <ToneBadge tone={tone}>{host.active ? word : t`${word}, closed for new folders`}</ToneBadge>;
}
