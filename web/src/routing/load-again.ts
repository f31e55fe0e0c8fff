const PAUSES_MS = [150, 600, 2000];
const LONGEST_PAUSE_MS = 2000;

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
