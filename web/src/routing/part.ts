import { type ComponentType, lazy } from "react";
import { loadMoreMessages } from "@/i18n";
import { loadAgain } from "./load-again";
import { mayPrefetch } from "./prefetch";

const AT_REST_MS = 1500;

/**
 * A lazily loaded component.
 *
 * Its code is prefetched when the page is idle, so that it opens at once, also while the server is down.
 */
export function part<Props>(load: () => Promise<ComponentType<Props>>) {
  let coming: Promise<{ default: ComponentType<Props> }> | null = null;
  const bring = () => {
    coming ??= loadPart(load).then(
      (component) => ({ default: component }),
      (problem) => {
        coming = null;
        throw problem;
      },
    );
    return coming;
  };
  prefetch(bring);
  return lazy(bring);
}

/** Loads code that is not in the first download, with the messages in it; a failed download is retried. */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  const [loaded] = await Promise.all([loadAgain(load), loadMoreMessages()]);
  return loaded;
}

// Text in a fixed width is shown in the system's font until then: the first load has a budget.
prefetch(() => import("@/theme/mono.css"));

function prefetch(bring: () => Promise<unknown>): void {
  const begin = () => mayPrefetch().then(bring);
  setTimeout(() => void begin().catch(() => undefined), AT_REST_MS);
}
