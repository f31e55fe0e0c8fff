import { useLingui } from "@lingui/react/macro";
import {
  IconAdjustments,
  IconDatabase,
  IconHistory,
  IconIdBadge2,
  IconListNumbers,
  IconRuler2,
  IconServer2,
  IconStack2,
  IconStethoscope,
  IconUsers,
} from "@tabler/icons-react";
import { may, mayBeyondOwn } from "./may";
import { useMe } from "./use-me";

type Area = "people" | "infrastructure" | "policy" | "system";

/** All administration pages, in the order of the navigation. */
function usePages() {
  const { t } = useLingui();
  const me = useMe();
  return [
    {
      to: "/users",
      area: "people",
      label: t`Users`,
      icon: IconUsers,
      shown: mayBeyondOwn(me, "user.read"),
    },
    {
      to: "/providers",
      area: "people",
      label: t`Identity providers`,
      icon: IconIdBadge2,
      shown: may(me, "provider.read"),
    },
    {
      to: "/resources",
      area: "infrastructure",
      label: t`Resources`,
      icon: IconServer2,
      shown: may(me, "node.update"),
    },
    {
      to: may(me, "storage_host.update") ? "/storage" : "/storage/folders",
      area: "infrastructure",
      label: t`Storage`,
      icon: IconDatabase,
      shown: mayBeyondOwn(me, "quota.read"),
    },
    {
      to: may(me, "image.update") ? "/environments/images" : "/environments/registries",
      area: "infrastructure",
      label: t`Environments`,
      icon: IconStack2,
      shown: mayBeyondOwn(me, "registry.read"),
    },
    {
      to: "/scheduler",
      area: "infrastructure",
      label: t`Scheduler`,
      icon: IconListNumbers,
      shown: mayBeyondOwn(me, "share.read"),
    },
    {
      to: "/policies",
      area: "policy",
      label: t`Resource policies`,
      icon: IconRuler2,
      shown: may(me, "policy.read"),
    },
    {
      to: "/audit",
      area: "system",
      label: t`Audit`,
      icon: IconHistory,
      shown: mayBeyondOwn(me, "audit.read"),
    },
    {
      to: "/site",
      area: "system",
      label: t`Configuration`,
      icon: IconAdjustments,
      shown: may(me, "site.read"),
    },
    {
      to: "/maintenance",
      area: "system",
      label: t`Maintenance`,
      icon: IconStethoscope,
      shown: may(me, "maintenance.read"),
    },
  ] as const;
}

/** The administration pages that the user may see. */
export function useAdministration() {
  return usePages().filter(({ shown }) => shown);
}

/** The same pages under the headings of the navigation; areas without pages are left out. */
export function useAdministrationAreas() {
  const { t } = useLingui();
  const pages = useAdministration();
  const titles: Record<Area, string> = {
    people: t({ context: "navigation", message: "People" }),
    infrastructure: t({ context: "navigation", message: "Infrastructure" }),
    policy: t({ context: "navigation", message: "Policy" }),
    system: t({ context: "navigation", message: "System" }),
  };
  return (Object.keys(titles) as Area[])
    .map((area) => ({ area, title: titles[area], pages: pages.filter((page) => page.area === area) }))
    .filter((one) => one.pages.length > 0);
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
