/** Prefetching of code, which waits while uploads need the connection and the processor. */
const waiting: (() => void)[] = [];
let held = false;

/** Holds prefetching back, or lets it continue. Twice: no-op. */
export function holdPrefetching(hold: boolean): void {
  held = hold;
  if (!held) for (const go of waiting.splice(0)) go();
}

/** Resolves when code may be prefetched. */
export const mayPrefetch = (): Promise<void> =>
  held ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve();
