import { Link, type LinkProps } from "@tanstack/react-router";
import styles from "./PageTabs.module.css";

interface Props {
  /** What the pages have in common, for a screen reader. */
  label: string;
  tabs: readonly { to: LinkProps["to"]; label: string }[];
}

/** Pages that belong together, above each of them. */
export function PageTabs({ label, tabs }: Props) {
  if (tabs.length < 2) return null;
  return (
    <nav className={styles.tabs} aria-label={label}>
      {tabs.map((tab) => (
        <Link
          key={tab.to}
          to={tab.to}
          className={styles.tab}
          activeOptions={{ exact: true, includeSearch: false }}
        >
          {tab.label}
        </Link>
      ))}
    </nav>
  );
}
