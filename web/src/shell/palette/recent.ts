const MOST = 8;

const keyOf = (user: string): string => `carrel.palette.${user}`;

/** The ids of the entries that the user chose last in this browser, newest first. */
export function recentEntries(user: string): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(user)) ?? "[]");
    return Array.isArray(stored) ? stored.filter((id) => typeof id === "string") : [];
  } catch {
    return [];
  }
}

/** Puts an entry first among the user's recent ones. */
export function rememberEntry(user: string, id: string): void {
  const others = recentEntries(user).filter((one) => one !== id);
  try {
    localStorage.setItem(keyOf(user), JSON.stringify([id, ...others].slice(0, MOST)));
  } catch {
    // Without storage nothing is recent.
  }
}
