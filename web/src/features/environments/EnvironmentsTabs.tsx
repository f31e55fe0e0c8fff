import { useLingui } from "@lingui/react/macro";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { PageTabs } from "@/ui/PageTabs";

/** Tabs of the administration of environments that the user may see. */
export function EnvironmentsTabs() {
  const { t } = useLingui();
  const me = useMe();
  return (
    <PageTabs
      label={t`Environments`}
      tabs={[
        ...(may(me, "image.update") ? ([{ to: "/environments/images", label: t`Images` }] as const) : []),
        { to: "/environments/registries", label: t`Registries` },
      ]}
    />
  );
}
