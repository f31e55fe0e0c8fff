import { type ComponentType, lazy } from "react";

const PAUSES_MS = [150, 600, 2000];
const LONGEST_PAUSE_MS = 2000;
const AT_REST_MS = 1500;

/**
 * A lazily loaded component.
 *
 * Its code is prefetched when the page is idle, so that it opens at once, also while the server is down.
 */
export function part<Props>(load: () => Promise<ComponentType<Props>>) {
  let coming: Promise<{ default: ComponentType<Props> }> | null = null;
  const bring = () => {
    coming ??= loadAgain(load).then(
      (component) => ({ default: component }),
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

/**
 * Calls `load`, and retries a failed download.
 *
 * Waits while the server does not respond. Rejects when the server responds but lacks the file, as after an
 * upgrade: then only a reload helps.
 */
export async function loadAgain<T>(load: () => Promise<T>): Promise<T> {
  let answers = false;
  for (let failures = 0; ; failures += 1) {
    try {
      return await load();
    } catch (problem) {
      // Only a download that fails while the server answers will always fail.
      if (answers) throw problem;
      answers = failures >= PAUSES_MS.length && (await serverAnswers());
      if (!answers) {
        await new Promise((resolve) => setTimeout(resolve, PAUSES_MS[failures] ?? LONGEST_PAUSE_MS));
      }
    }
  }
}

async function serverAnswers(): Promise<boolean> {
  const answer = await fetch("/", { method: "HEAD", cache: "no-store" }).catch(() => null);
  return answer?.ok ?? false;
}

// Text in a fixed width is shown in the system's font until then: the first load has a budget.
setTimeout(() => void import("@/theme/mono.css").catch(() => undefined), AT_REST_MS);
