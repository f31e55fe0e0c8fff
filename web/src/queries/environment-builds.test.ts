import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, test, vi } from "vitest";
import { environmentsLog } from "@/api/generated/sdk.gen";
import type { EnvironmentVersion } from "@/api/types";
import { buildLogQuery } from "./environment-builds";

vi.mock("@/api/generated/sdk.gen", () => ({ environmentsLog: vi.fn() }));

const VERSION = { id: "v", environment_id: "e", name: "1" } as EnvironmentVersion;
const PARTS = ["one\n", "two\n", "three\n"];

/** Answers with one part at a time, of so many; complete: they are all. */
function answering(count: number, complete: boolean) {
  vi.mocked(environmentsLog).mockImplementation((async ({ query }: { query: { after: number } }) => {
    const text = query.after < count ? PARTS[query.after] : "";
    const next = Math.min(query.after + 1, count);
    return { data: { text, next, state: "running", complete: complete && next === count } };
  }) as unknown as typeof environmentsLog);
}

const afters = () => vi.mocked(environmentsLog).mock.calls.map(([{ query }]) => query?.after);

afterEach(() => vi.resetAllMocks());

test("a log is fetched from where it ended before", async () => {
  const client = new QueryClient();
  const query = { ...buildLogQuery(VERSION), staleTime: 0 };
  answering(2, false);
  expect((await client.fetchQuery(query)).text).toBe("one\ntwo\n");
  expect(afters()).toEqual([0, 1, 2]);
  vi.mocked(environmentsLog).mockClear();
  answering(3, true);
  expect(await client.fetchQuery(query)).toEqual({ text: "one\ntwo\nthree\n", next: 3, complete: true });
  expect(afters()).toEqual([2]);
});
