import { useLingui } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { mayBeyondOwn } from "@/shell/may";
import { useMe } from "@/shell/use-me";
import styles from "./PeopleTabs.module.css";

/** The pages about people and where they belong, as far as the person may see them. */
export function PeopleTabs() {
  const { t } = useLingui();
  const me = useMe();
  const tabs = [
    { to: "/users", label: t`Users`, shown: mayBeyondOwn(me, "user.read") },
    { to: "/users/keypairs", label: t`Keypairs`, shown: mayBeyondOwn(me, "keypair.read") },
    { to: "/projects", label: t`Projects`, shown: true },
    { to: "/domains", label: t`Domains`, shown: mayBeyondOwn(me, "domain.read") },
  ] as const;
  const shown = tabs.filter((tab) => tab.shown);
  if (shown.length < 2) return null;
  return (
    <nav className={styles.tabs} aria-label={t`People and places`}>
      {shown.map(({ to, label }) => (
        <Link key={to} to={to} className={styles.tab} activeOptions={{ exact: true, includeSearch: false }}>
          {label}
        </Link>
      ))}
    </nav>
  );
}
