interface Difference {
  field: string;
  /** As text; undefined if absent. */
  before: string | undefined;
  after: string | undefined;
}

type Details = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Details =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function text(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value.join(", ");
  return JSON.stringify(value);
}

/** The changed fields of an entry, with their values before and after. */
export function differences(details: Details): Difference[] {
  const before = isObject(details.before) ? details.before : {};
  const after = isObject(details.after) ? details.after : {};
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].map((field) => ({
    field,
    before: text(before[field]),
    after: text(after[field]),
  }));
}

/** The other details of an entry as JSON, or null. */
export function otherFacts(details: Details): string | null {
  const { before, after, ...rest } = details;
  const others = Object.entries(rest).filter(([, value]) => !(Array.isArray(value) && value.length === 0));
  return others.length > 0 ? JSON.stringify(Object.fromEntries(others), null, 2) : null;
}
