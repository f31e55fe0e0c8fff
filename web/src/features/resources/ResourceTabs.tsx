import { useLingui } from "@lingui/react/macro";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { PageTabs } from "@/ui/PageTabs";

/** Tabs of the resource pages. */
export function ResourceTabs() {
  const { t } = useLingui();
  const me = useMe();
  const tabs = [
    { to: "/resources", label: t`Nodes` },
    { to: "/resources/devices", label: t`Accelerators` },
    { to: "/resources/groups", label: t`Resource groups` },
    { to: "/resources/presets", label: t`Presets` },
    ...(may(me, "engine.read") ? ([{ to: "/resources/engines", label: t`Engines` }] as const) : []),
  ] as const;
  return <PageTabs label={t`Resources`} tabs={tabs} />;
}
