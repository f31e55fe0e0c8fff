/** What the shells in a container are remembered under. */
export const placeOf = (sessionId: string, container: string | undefined): string =>
  container ? `${sessionId}.${container}` : sessionId;

const keyOf = (place: string, tab: number) => `carrel.terminal.${place}.${tab}`;

/** The terminal that this tab had open in the session before a reload. */
export function rememberedTerminal(place: string, tab: number): string | null {
  try {
    return sessionStorage.getItem(keyOf(place, tab));
  } catch {
    return null;
  }
}

/** Remembers the terminal for the lifetime of the browser's tab; null forgets it. */
export function rememberTerminal(place: string, tab: number, terminal: string | null): void {
  try {
    if (terminal === null) sessionStorage.removeItem(keyOf(place, tab));
    else sessionStorage.setItem(keyOf(place, tab), terminal);
  } catch {
    // Without storage, a reload opens a new shell.
  }
}
