import { useLingui } from "@lingui/react/macro";
import { PageTabs } from "@/ui/PageTabs";

/** Tabs of the maintenance pages. */
export function MaintenanceTabs() {
  const { t } = useLingui();
  return (
    <PageTabs
      label={t`Maintenance`}
      tabs={[
        { to: "/maintenance", label: t`Checks` },
        { to: "/maintenance/consistency", label: t`Consistency` },
        { to: "/maintenance/images", label: t`Images` },
        { to: "/maintenance/scans", label: t`Scans` },
        { to: "/maintenance/information", label: t`Information` },
      ]}
    />
  );
}
