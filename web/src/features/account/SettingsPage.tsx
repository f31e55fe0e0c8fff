import { useLingui } from "@lingui/react/macro";
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useJump } from "@/routing/use-jump";
import { useGuardedClose } from "@/ui/form/FormDrawer";
import { UnsavedInput } from "@/ui/form/unsaved-input";
import styles from "./SettingsPage.module.css";
import { SECTIONS } from "./sections";

const stay = () => {};

/** The user's own settings as tabs, each with its URL. Asks before unsaved input of a tab is lost. */
export function SettingsPage() {
  const { t, i18n } = useLingui();
  const nav = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  useJump(content);
  const { watch } = useGuardedClose(stay);
  const path = useRouterState({ select: (state) => state.location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the new tab may be scrolled out of view in a narrow window
  useEffect(() => {
    // After the links have marked the active one.
    const frame = requestAnimationFrame(() =>
      nav.current
        ?.querySelector("[data-status='active']")
        ?.scrollIntoView({ block: "nearest", inline: "center" }),
    );
    return () => cancelAnimationFrame(frame);
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
        <UnsavedInput value={watch}>
          <Outlet />
        </UnsavedInput>
      </div>
    </div>
  );
}
