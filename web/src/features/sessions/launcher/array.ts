import type { SessionCreate } from "@/api/types";

type ArrayRequest = NonNullable<SessionCreate["array"]>;

const ARRAY = /^(\d{1,6})-(\d{1,6})(?:%(\d{1,6}))?$/;
const MOST = 10_000;

/** "1-100" or "1-100%8" as a request; null if it is neither, or has no or too many sessions. */
export function readArray(text: string): ArrayRequest | null {
  const match = ARRAY.exec(text.trim());
  if (!match) return null;
  const [first, last, most] = match.slice(1).map((one) => (one === undefined ? undefined : Number(one)));
  if (first === undefined || last === undefined || most === 0) return null;
  const count = last - first + 1;
  if (count < 1 || count > MOST) return null;
  return { first, last, ...(most === undefined ? {} : { max_parallel: most }) };
}

/** "1-100%8"; "" without an array. */
export function formatArray(array: ArrayRequest | null | undefined): string {
  if (!array) return "";
  const { first, last, max_parallel: most } = array;
  return `${first}-${last}${most ? `%${most}` : ""}`;
}
