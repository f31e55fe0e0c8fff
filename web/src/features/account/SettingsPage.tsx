import { useLingui } from "@lingui/react/macro";
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useJump } from "@/routing/use-jump";
import styles from "./SettingsPage.module.css";
import { SECTIONS } from "./sections";

/** The user's own settings as tabs, each with its URL. */
export function SettingsPage() {
  const { t, i18n } = useLingui();
  const nav = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  useJump(content);
  const path = useRouterState({ select: (state) => state.location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the new tab may be scrolled out of view in a narrow window
  useEffect(() => {
    nav.current
      ?.querySelector("[data-status='active']")
      ?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [path]);
  return (
    <div className={styles.area}>
      <nav ref={nav} className={styles.nav} aria-label={t`Your settings`}>
        {SECTIONS.map(({ to, label }) => (
          <Link key={to} to={to} className={styles.link} activeOptions={{ includeSearch: false }}>
            {i18n._(label)}
          </Link>
        ))}
      </nav>
      <div ref={content} className={styles.content}>
        <Outlet />
      </div>
    </div>
  );
}
