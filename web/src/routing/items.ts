/** The search parameters that hold the item of the open details. */
const ITEMS = ["open", "session", "user"] as const;

type Search = Readonly<Record<string, unknown>>;

/** Whether details are open before and after. */
export const staysOpen = (before: Search, after: Search): boolean =>
  ITEMS.some((item) => before[item] && after[item]);

/** Whether the open details show another item. */
export const showsAnother = (before: Search, after: Search): boolean =>
  ITEMS.some((item) => before[item] && after[item] && before[item] !== after[item]);
