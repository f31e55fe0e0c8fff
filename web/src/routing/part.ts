import { type ComponentType, lazy } from "react";

const PAUSES_MS = [150, 600, 2000];
const AT_REST_MS = 1500;

/**
 * A part of a page that is downloaded apart from it.
 *
 * It comes once the page is at rest, so that it opens at once when it is asked for, also while the server is away.
 */
export function part<Props>(load: () => Promise<ComponentType<Props>>) {
  let coming: Promise<{ default: ComponentType<Props> }> | null = null;
  const bring = () => {
    coming ??= loadAgain(load).then(
      (found) => ({ default: found }),
      (problem) => {
        coming = null;
        throw problem;
      },
    );
    return coming;
  };
  setTimeout(() => void bring().catch(() => undefined), AT_REST_MS);
  return lazy(bring);
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
