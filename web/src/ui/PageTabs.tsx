import { Badge } from "@mantine/core";
import { Link, type LinkProps } from "@tanstack/react-router";
import styles from "./PageTabs.module.css";

interface Tab {
  to: LinkProps["to"];
  label: string;
  /** Sets the tabs of one page apart; what else its address has is left out by a change of the tab. */
  search?: LinkProps["search"];
  /** How many wait there; none are not shown. */
  count?: number;
}

interface Props {
  /** What the pages have in common, for a screen reader. */
  label: string;
  tabs: readonly Tab[];
}

/** Pages that belong together, above each of them. */
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
