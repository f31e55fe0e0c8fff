import { useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SessionKind } from "@/api/types";
import type { SessionFilter } from "@/cache/patch";
import { SESSION_KINDS } from "@/features/resources/group-words";
import { sessionCountsQuery } from "@/queries/sessions";
import { viewsListQuery } from "@/queries/views";
import type { SessionsSearch } from "@/routing/search";
import { SaveView } from "./SaveView";
import styles from "./SessionViews.module.css";
import { ViewMenu } from "./ViewMenu";
import { isFiltered, searchOf, shows, viewOf } from "./view-search";

interface Props {
  search: SessionsSearch;
  filter: SessionFilter;
  /** The shown columns. */
  visible: readonly string[];
  /** Called before another view is shown. */
  onLeave: () => void;
}

/** Tabs above the session list: its types with the number of their rows, and the user's saved views. */
export function SessionViews({ search, filter, visible, onLeave }: Props) {
  const { t, i18n } = useLingui();
  const views = useQuery(viewsListQuery).data ?? [];
  const shown = views.find((view) => shows(search, view));
  const counts = useQuery({ ...sessionCountsQuery(filter), enabled: filter.array === undefined });
  const counted = filter.array === undefined ? counts.data : undefined;
  const count = (kind: SessionKind) => counted?.kinds.find((one) => one.kind === kind)?.count ?? 0;
  const kinds = (Object.keys(SESSION_KINDS) as SessionKind[]).filter(
    (kind) => kind !== "inference" || search.kind === kind || count(kind) > 0,
  );
  const all = counted?.kinds.reduce((sum, one) => sum + one.count, 0);
  const kindName = (kind: SessionKind) => {
    const words = SESSION_KINDS[kind];
    return words ? i18n._(words) : kind;
  };
  const tab = (kind: SessionKind | undefined, label: string, number: number | undefined) => {
    const current = !shown && search.kind === kind;
    return (
      <li key={kind ?? "all"}>
        <Link
          to="/sessions"
          search={{ ...search, kind }}
          className={styles.tab}
          activeProps={{}}
          aria-current={current ? "page" : undefined}
          data-current={current || undefined}
          onClick={onLeave}
        >
          {label}
          {number !== undefined && <Count number={number} complete={counted?.complete ?? true} />}
        </Link>
      </li>
    );
  };
  return (
    <nav className={styles.bar} aria-label={t`Types and saved views`}>
      <ul className={styles.tabs}>
        {tab(undefined, t`All types`, all)}
        {kinds.map((kind) => tab(kind, kindName(kind), counted && count(kind)))}
        {views.length > 0 && <li className={styles.divider} aria-hidden />}
        {views.map((view) => (
          <li key={view.id} className={styles.saved}>
            <Link
              to="/sessions"
              search={searchOf(view)}
              className={styles.tab}
              activeProps={{}}
              aria-current={view === shown ? "page" : undefined}
              data-current={view === shown || undefined}
              title={view.name}
              onClick={onLeave}
            >
              {view.name}
            </Link>
            {view === shown && <ViewMenu view={view} />}
          </li>
        ))}
      </ul>
      {!shown && isFiltered(search) && <SaveView views={views} search={viewOf(search, visible)} />}
    </nav>
  );
}

const MOST = 999;

/** A number of rows up to 999; complete: false if there may be more. */
function Count({ number, complete }: { number: number; complete: boolean }) {
  const { t } = useLingui();
  if (complete && number <= MOST) return <span className={styles.count}>{number}</span>;
  // Of a long list only the newest rows are counted, which may have none.
  if (number === 0) return null;
  const least = Math.min(number, MOST);
  return (
    <span
      className={styles.count}
      title={complete ? t`More than ${least}` : t`At least ${least}: the newest are counted`}
    >
      {least}+
    </span>
  );
}
