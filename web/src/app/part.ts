import { type ComponentType, lazy } from "react";

const PAUSES_MS = [150, 600, 2000];

/** A part of a page that is downloaded when it is first shown; a download that got lost is tried again. */
export function part<Props>(load: () => Promise<ComponentType<Props>>) {
  return lazy(async () => ({ default: await loadAgain(load) }));
}

/** What `load` brings, asked for again when the download got lost. */
export async function loadAgain<T>(load: () => Promise<T>): Promise<T> {
  for (const pause of PAUSES_MS) {
    try {
      return await load();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  return load();
}
