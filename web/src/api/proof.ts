type Listener = () => void;

let waiting: { answer: Promise<boolean>; settle: (proved: boolean) => void } | null = null;
const listeners = new Set<Listener>();

function notifyListeners(): void {
  for (const listener of listeners) listener();
}

/** Holds requests that the server refused until the user has confirmed their identity. */
export const identityConfirmation = {
  /** True after a confirmation, false when the user cancels. Concurrent requests share one dialog. */
  ask(): Promise<boolean> {
    if (!waiting) {
      let settle: (proved: boolean) => void = () => undefined;
      const answer = new Promise<boolean>((resolve) => {
        settle = resolve;
      });
      waiting = { answer, settle };
      notifyListeners();
    }
    return waiting.answer;
  },
  settle(proved: boolean): void {
    waiting?.settle(proved);
    waiting = null;
    notifyListeners();
  },
  isAsking: (): boolean => waiting !== null,
  subscribe(listener: Listener): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
