const KEY = "carrel.terminal.";

/** The terminal that this tab had open in the session before a reload. */
export function rememberedTerminal(sessionId: string): string | null {
  try {
    return sessionStorage.getItem(KEY + sessionId);
  } catch {
    return null;
  }
}

/** Remembers the terminal for the lifetime of the tab; null forgets it. */
export function rememberTerminal(sessionId: string, terminal: string | null): void {
  try {
    if (terminal === null) sessionStorage.removeItem(KEY + sessionId);
    else sessionStorage.setItem(KEY + sessionId, terminal);
  } catch {
    // Without storage, a reload opens a new shell.
  }
}
