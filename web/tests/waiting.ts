import { vi } from "vitest";

/** Waits until the claim throws nothing, also on a machine with a lot to do. Returns what it returns. */
export const until = <T>(claim: () => T | Promise<T>): Promise<T> => vi.waitFor(claim, { timeout: 30_000 });
