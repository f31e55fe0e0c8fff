import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Problem, toProblem } from "@/api/problem";
import { retryWhileUnreachable } from "@/api/retry";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const lost = () => toProblem(new TypeError("Failed to fetch"));
const refused = new Problem({ status: 409, code: "session.name_taken", detail: "taken" });

test("a request that got lost is sent again until it is answered", async () => {
  const send = vi
    .fn()
    .mockRejectedValueOnce(lost())
    .mockRejectedValueOnce(lost())
    .mockResolvedValue("answer");
  const answer = retryWhileUnreachable(send);
  await vi.runAllTimersAsync();
  expect(await answer).toBe("answer");
  expect(send).toHaveBeenCalledTimes(3);
});

test("a no is an answer and is not asked again", async () => {
  const send = vi.fn().mockRejectedValue(refused);
  await expect(retryWhileUnreachable(send)).rejects.toBe(refused);
  expect(send).toHaveBeenCalledTimes(1);
});

test("a server that restarts is waited for, and one that stays away is given up", async () => {
  const since = Date.now();
  const send = vi.fn().mockRejectedValue(lost());
  const answer = expect(retryWhileUnreachable(send)).rejects.toMatchObject({ code: "server.unreachable" });
  await vi.runAllTimersAsync();
  await answer;
  expect(Date.now() - since).toBeGreaterThan(15_000);
  expect(Date.now() - since).toBeLessThan(60_000);
});

test("what the server said of a problem is kept", () => {
  const response = { status: 422, statusText: "Unprocessable" } as Response;
  const body = {
    code: "invalid.name",
    detail: "Too short.",
    hint: "Four or more.",
    field: "name",
    request_id: "r1",
  };
  expect(toProblem(body, response)).toMatchObject({
    status: 422,
    code: "invalid.name",
    message: "Too short.",
    hint: "Four or more.",
    field: "name",
    requestId: "r1",
  });
  expect(toProblem("<html>", response)).toMatchObject({ code: "http.422", message: "Unprocessable" });
});
