import { useLingui } from "@lingui/react/macro";
import { PageTabs } from "@/ui/PageTabs";

/** Tabs of the pages about sessions. */
export function SessionTabs() {
  const { t } = useLingui();
  const tabs = [
    { to: "/sessions", label: t`Sessions` },
    { to: "/sessions/recurring", label: t`Recurring runs` },
  ] as const;
  return <PageTabs label={t`Sessions`} tabs={tabs} />;
}
