import { useLingui } from "@lingui/react/macro";
import {
  IconAdjustments,
  IconDatabase,
  IconHistory,
  IconIdBadge2,
  IconListNumbers,
  IconRuler2,
  IconServer2,
  IconUsers,
} from "@tabler/icons-react";
import { may, mayBeyondOwn } from "./may";
import { useMe } from "./use-me";

function usePages() {
  const { t } = useLingui();
  const me = useMe();
  return [
    { to: "/users", label: t`Users`, icon: IconUsers, shown: mayBeyondOwn(me, "user.read") },
    { to: "/scheduler", label: t`Scheduler`, icon: IconListNumbers, shown: mayBeyondOwn(me, "share.read") },
    { to: "/resources", label: t`Resources`, icon: IconServer2, shown: may(me, "node.update") },
    {
      to: may(me, "storage_host.update") ? "/storage" : "/storage/folders",
      label: t`Storage`,
      icon: IconDatabase,
      shown: mayBeyondOwn(me, "quota.read"),
    },
    { to: "/policies", label: t`Resource policies`, icon: IconRuler2, shown: may(me, "policy.read") },
    { to: "/audit", label: t`Audit`, icon: IconHistory, shown: mayBeyondOwn(me, "audit.read") },
    { to: "/site", label: t`Configuration`, icon: IconAdjustments, shown: may(me, "site.read") },
    {
      to: "/providers",
      label: t`Identity providers`,
      icon: IconIdBadge2,
      shown: may(me, "provider.read"),
    },
  ] as const;
}

/** The administration pages that the user may see. */
export function useAdministration() {
  return usePages().filter(({ shown }) => shown);
}

/** Pages that show every user a part: the anonymous queue, their own audit entries. */
const OPEN: readonly string[] = ["/scheduler", "/audit"];

/** Whether the path is an administration page that the user may not see. */
export function useForbidden(path: string): boolean {
  const area = `/${path.split("/")[1]}`;
  return usePages().some(
    ({ to, shown }) => !shown && !OPEN.includes(area) && `${to}/`.startsWith(`${area}/`),
  );
}
