type Listener = () => void;

let waiting: { answer: Promise<boolean>; settle: (proved: boolean) => void } | null = null;
const listeners = new Set<Listener>();

function notifyListeners(): void {
  for (const listener of listeners) listener();
}

/** Where a request that the server refused waits until the person has proved once more that it is them. */
export const proofDesk = {
  /** True once they did, false when they would not. Requests that come meanwhile wait for the same answer. */
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
