import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { loadAgain } from "@/routing/load-again";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Downloads that fail before this many have, and a server that answers from its n-th request on. */
function behaves(download: { failures: number }, server: { answersFrom: number }) {
  let asked = 0;
  vi.stubGlobal("fetch", async () => {
    asked += 1;
    if (asked < server.answersFrom) throw new TypeError("Failed to fetch");
    return new Response(null, { status: 200 });
  });
  const load = vi.fn(async () => {
    if (load.mock.calls.length <= download.failures) throw new TypeError("Failed to fetch the module");
    return "code";
  });
  return load;
}

test("a server that comes back right after a download failed is asked for it again", async () => {
  const coming = loadAgain(behaves({ failures: 4 }, { answersFrom: 1 }));
  await vi.runAllTimersAsync();
  expect(await coming).toBe("code");
});

test("a server that is away is waited for", async () => {
  const coming = loadAgain(behaves({ failures: 9 }, { answersFrom: 6 }));
  await vi.runAllTimersAsync();
  expect(await coming).toBe("code");
});

test("a server that answers and lacks the file is not asked for ever", async () => {
  const load = behaves({ failures: Number.POSITIVE_INFINITY }, { answersFrom: 1 });
  const coming = expect(loadAgain(load)).rejects.toThrow("Failed to fetch the module");
  await vi.runAllTimersAsync();
  await coming;
  expect(load).toHaveBeenCalledTimes(5);
});
