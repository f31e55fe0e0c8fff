/** The shells of a terminal page, by number. shown: one, or two side by side, `active` among them. */
export interface Tabs {
  open: readonly number[];
  shown: readonly number[];
  active: number;
}

export const ONE_TAB: Tabs = { open: [1], shown: [1], active: 1 };

function replaced(tabs: Tabs, by: number): number[] {
  return tabs.shown.map((tab) => (tab === tabs.active ? by : tab));
}

/** A new shell in place of the active one. */
export function opened(tabs: Tabs): Tabs {
  const tab = Math.max(...tabs.open) + 1;
  return { open: [...tabs.open, tab], shown: replaced(tabs, tab), active: tab };
}

/** Where the tab is shown already it only becomes active. */
export function selected(tabs: Tabs, tab: number): Tabs {
  return { ...tabs, shown: tabs.shown.includes(tab) ? tabs.shown : replaced(tabs, tab), active: tab };
}

/** The tab so many places further, in a circle. */
export function stepped(tabs: Tabs, step: 1 | -1): Tabs {
  const at = tabs.open.indexOf(tabs.active) + step + tabs.open.length;
  return selected(tabs, tabs.open[at % tabs.open.length] ?? tabs.active);
}

/** Without the active shell; the last one stays. */
export function closed(tabs: Tabs): Tabs {
  if (tabs.open.length === 1) return tabs;
  const at = tabs.open.indexOf(tabs.active);
  const open = tabs.open.filter((tab) => tab !== tabs.active);
  const [other] = tabs.shown.filter((tab) => tab !== tabs.active);
  const active = other ?? open[Math.min(at, open.length - 1)] ?? tabs.active;
  return { open, shown: [active], active };
}

/** Two shells side by side, the second a new one if there is only one; or the active one alone again. */
export function split(tabs: Tabs): Tabs {
  if (tabs.shown.length === 2) return { ...tabs, shown: [tabs.active] };
  const other = tabs.open.find((tab) => tab !== tabs.active);
  if (other !== undefined) return { ...tabs, shown: [tabs.active, other].sort((one, two) => one - two) };
  const next = opened(tabs);
  return { ...next, shown: [tabs.active, next.active] };
}
