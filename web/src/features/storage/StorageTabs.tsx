import { useLingui } from "@lingui/react/macro";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { PageTabs } from "@/ui/PageTabs";

/** Tabs of the storage pages that the user may see. */
export function StorageTabs() {
  const { t } = useLingui();
  const me = useMe();
  return (
    <PageTabs
      label={t`Storage`}
      tabs={[
        ...(may(me, "storage_host.update") ? ([{ to: "/storage", label: t`Storage hosts` }] as const) : []),
        { to: "/storage/folders", label: t`All folders` },
        { to: "/storage/quotas", label: t`Quotas` },
      ]}
    />
  );
}
