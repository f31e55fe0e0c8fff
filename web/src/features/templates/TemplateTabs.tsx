import { useLingui } from "@lingui/react/macro";
import { PageTabs } from "@/ui/PageTabs";

/** Tabs of what sessions and their apps are started from. */
export function TemplateTabs() {
  const { t } = useLingui();
  const tabs = [
    { to: "/templates", label: t`Sessions` },
    { to: "/templates/apps", label: t`Apps` },
  ] as const;
  return <PageTabs label={t`Templates`} tabs={tabs} />;
}
