const keyOf = (sessionId: string, tab: number) => `carrel.terminal.${sessionId}.${tab}`;

/** The terminal that this tab had open in the session before a reload. */
export function rememberedTerminal(sessionId: string, tab: number): string | null {
  try {
    return sessionStorage.getItem(keyOf(sessionId, tab));
  } catch {
    return null;
  }
}

/** Remembers the terminal for the lifetime of the browser's tab; null forgets it. */
export function rememberTerminal(sessionId: string, tab: number, terminal: string | null): void {
  try {
    if (terminal === null) sessionStorage.removeItem(keyOf(sessionId, tab));
    else sessionStorage.setItem(keyOf(sessionId, tab), terminal);
  } catch {
    // Without storage, a reload opens a new shell.
  }
}
