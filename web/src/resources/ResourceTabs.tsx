import { useLingui } from "@lingui/react/macro";
import { PageTabs } from "@/ui/PageTabs";

/** The pages about machines and how they are offered. */
export function ResourceTabs() {
  const { t } = useLingui();
  const tabs = [
    { to: "/resources", label: t`Nodes` },
    { to: "/resources/groups", label: t`Resource groups` },
    { to: "/resources/presets", label: t`Presets` },
  ] as const;
  return <PageTabs label={t`Resources`} tabs={tabs} />;
}
