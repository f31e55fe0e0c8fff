import { useLingui } from "@lingui/react/macro";
import { mayBeyondOwn } from "@/me/may";
import { useMe } from "@/me/use-me";
import { PageTabs } from "@/ui/PageTabs";

/** Tabs of the user pages that the current user may see. */
export function UsersTabs() {
  const { t } = useLingui();
  const me = useMe();
  const tabs = [
    { to: "/users", label: t`Users`, shown: mayBeyondOwn(me, "user.read") },
    { to: "/users/keypairs", label: t`Keypairs`, shown: mayBeyondOwn(me, "keypair.read") },
    { to: "/projects", label: t`Projects`, shown: true },
    { to: "/domains", label: t`Domains`, shown: mayBeyondOwn(me, "domain.read") },
  ] as const;
  return <PageTabs label={t`Users and projects`} tabs={tabs.filter((tab) => tab.shown)} />;
}
