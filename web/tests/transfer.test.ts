import { beforeEach, expect, test, vi } from "vitest";
import type { Problem } from "@/api/problem";
import { transferOf, type UploadOptions } from "@/features/uploads/transfer";

type Answer = [status: number, headers?: Record<string, string>];

const wire = vi.hoisted(() => ({ asked: [] as string[], answers: [] as Answer[], clashes: [] as string[] }));
vi.mock("tus-js-client", async (original) => {
  const actual = await original<typeof import("tus-js-client")>();
  const httpStack = {
    getName: () => "wire",
    createRequest: (method: string, url: string) => ({
      getMethod: () => method,
      getURL: () => url,
      setHeader: (name: string, value: string) => {
        if (name === "Carrel-Clash") wire.clashes.push(`${method} ${value}`);
      },
      getHeader: () => undefined,
      setProgressHandler: () => undefined,
      getUnderlyingObject: () => null,
      abort: async () => undefined,
      send: async () => {
        wire.asked.push(`${method} ${new URL(url).pathname}`);
        const [status, headers = {}] = wire.answers.shift() ?? [500];
        return {
          getStatus: () => status,
          getHeader: (name: string) => headers[name],
          getBody: () => "",
          getUnderlyingObject: () => null,
        };
      },
    }),
  };
  class Upload extends actual.Upload {
    constructor(file: File, options: import("tus-js-client").UploadOptions) {
      // Beside a browser it reads buffers.
      super(Buffer.alloc(file.size) as unknown as File, { ...options, httpStack });
    }
  }
  return { ...actual, Upload };
});

beforeEach(() => {
  wire.asked.length = 0;
  wire.answers.length = 0;
  wire.clashes.length = 0;
  vi.useFakeTimers();
  vi.stubGlobal("location", { origin: "http://carrel" });
});

const WISH: UploadOptions = {
  folder: "f",
  path: "a",
  clash: "refuse",
  url: null,
  onUrl: () => undefined,
  onProgress: () => undefined,
  onDone: () => undefined,
  onProblem: () => undefined,
};

function outcome(url: string | null, clash: UploadOptions["clash"] = "refuse"): Promise<Problem | "done"> {
  return new Promise((resolve) => {
    const onDone = () => resolve("done");
    transferOf(new File(["content"], "a"), { ...WISH, url, clash, onDone, onProblem: resolve }).start();
  });
}

const WHERE = "http://carrel/uploads/1";

test("a file says when it was last changed", () => {
  const file = new File(["content"], "a", { lastModified: 1_700_000_000_250 });
  expect(transferOf(file, WISH).options.metadata?.modified).toBe("1700000000.250");
});

test("an upload that was begun goes on once the server is back, and is not begun anew", async () => {
  wire.answers.push([503], [502], [200, { "Upload-Offset": "3", "Upload-Length": "7" }]);
  wire.answers.push([204, { "Upload-Offset": "7" }]);
  const told = outcome(WHERE);
  await vi.runAllTimersAsync();
  expect(await told).toBe("done");
  expect(wire.asked).toEqual(["HEAD /uploads/1", "HEAD /uploads/1", "HEAD /uploads/1", "PATCH /uploads/1"]);
});

test("an upload that has arrived is finished with another clash than it was begun with", async () => {
  wire.answers.push([200, { "Upload-Offset": "6", "Upload-Length": "7" }], [204, { "Upload-Offset": "7" }]);
  const told = outcome(WHERE, "rename");
  await vi.runAllTimersAsync();
  expect(await told).toBe("done");
  expect(wire.clashes).toContain("PATCH rename");
});

test("an upload that the server has let go of is told to be gone", async () => {
  wire.answers.push([404]);
  expect(await outcome(WHERE)).toMatchObject({ status: 404 });
  expect(wire.asked).toEqual(["HEAD /uploads/1"]);
});

test("a line that breaks behind the first bytes does not begin the upload anew", async () => {
  wire.answers.push([201, { Location: "/uploads/1", "Upload-Offset": "3" }], [500], [503]);
  wire.answers.push([200, { "Upload-Offset": "3", "Upload-Length": "7" }], [204, { "Upload-Offset": "7" }]);
  const told = outcome(null);
  await vi.runAllTimersAsync();
  expect(await told).toBe("done");
  expect(wire.asked).toEqual([
    "POST /api/v1/vfolders/f/uploads",
    "PATCH /uploads/1",
    "HEAD /uploads/1",
    "HEAD /uploads/1",
    "PATCH /uploads/1",
  ]);
});

test("how long to wait is told also where the answer has no body", async () => {
  wire.answers.push([429, { "Retry-After": "600" }]);
  expect(await outcome(WHERE)).toMatchObject({ status: 429, details: { retry_after_s: 600 } });
});
