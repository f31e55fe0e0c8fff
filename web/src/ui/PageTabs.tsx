import { Badge } from "@mantine/core";
import { Link, type LinkProps } from "@tanstack/react-router";
import styles from "./PageTabs.module.css";

interface Tab {
  to: LinkProps["to"];
  label: string;
  /** Distinguishes the tabs of one page; a tab change drops all other parameters. */
  search?: LinkProps["search"];
  /** Number of pending items; zero is not shown. */
  count?: number;
}

interface Props {
  /** Accessible name of the tabs. */
  label: string;
  tabs: readonly Tab[];
}

/** Tabs of related pages. */
export function PageTabs({ label, tabs }: Props) {
  if (tabs.length < 2) return null;
  return (
    <nav className={styles.tabs} aria-label={label}>
      {tabs.map((tab) => (
        <Link
          key={`${tab.to}${JSON.stringify(tab.search)}`}
          to={tab.to}
          search={tab.search}
          className={styles.tab}
          activeOptions={
            tab.search
              ? { includeSearch: true, explicitUndefined: true }
              : { exact: true, includeSearch: false }
          }
        >
          {tab.label}
          {tab.count ? (
            <Badge size="xs" circle ms={6} color="brass">
              {tab.count}
            </Badge>
          ) : null}
        </Link>
      ))}
    </nav>
  );
}
