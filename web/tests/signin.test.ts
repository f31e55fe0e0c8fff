import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ACTIONS } from "@/api/actions";
import { rememberCsrfToken, send } from "@/api/client";
import { identityConfirmation } from "@/api/proof";
import { actionsOf, kindsFor, onlyReads, scopesOf } from "@/features/account/scopes";
import { createTokenCommand } from "@/features/account/token-command";
import { linkToken } from "@/features/signin/link-token";
import { classesOf, rulesKept } from "@/features/signin/password-rules";
import { strengthOf } from "@/features/signin/strength";
import { beginOf } from "@/routing/activity-span";
import { signInSearch } from "@/routing/search";
import { until } from "./waiting";

describe("the address after signing in", () => {
  test.each(["/", "/sessions?state=ended&q=a%20b", "/settings/tokens#x"])("%s is ours", (next) => {
    expect(signInSearch({ next }).next).toBe(next);
  });

  test.each([
    "https://example.org/",
    "//example.org/",
    "/\\example.org",
    "/\t/example.org",
    "\\/example.org",
    "/.//example.org",
    "javascript:alert(1)",
    "sessions",
    "",
    7,
  ])("%j is not", (next) => {
    expect(signInSearch({ next }).next).toBeUndefined();
  });
});

describe("a password", () => {
  const rules = { min_length: 10, classes: 3, refuse_common: true, history: 5 };

  test.each([
    ["abc", 1],
    ["abcABC", 2],
    ["aB3", 3],
    ["aB3-", 4],
    ["가나다", 1],
    ["", 0],
  ])("%s has so many kinds of characters", (password, classes) => {
    expect(classesOf(password)).toBe(classes);
  });

  test("is counted in characters, not in halves of them", () => {
    expect(rulesKept("🦊🦊🦊🦊🦊", rules).length).toBe(false);
    expect(rulesKept("aB3🦊🦊🦊🦊🦊🦊🦊", rules)).toEqual({ length: true, classes: true });
  });

  test("that is well known, or the person's own name, is weak", () => {
    expect(strengthOf("password1", [])).toBeLessThan(2);
    expect(strengthOf("adalovelace", ["ada.lovelace@example.org"])).toBeLessThan(2);
    expect(strengthOf("violet-harbour-tuesday-9", [])).toBe(4);
  });
});

test("the token of a link is behind the #", () => {
  expect(linkToken("#token=abc-_1")).toBe("abc-_1");
  expect(linkToken("token=abc")).toBe("abc");
  expect(linkToken("")).toBeNull();
});

describe("scopes of a token", () => {
  const mine = Object.fromEntries(
    Object.entries(ACTIONS)
      .filter(([, { user }]) => (user as string) !== "none")
      .map(([name, { user }]) => [name, user]),
  );
  const kinds = kindsFor(mine);
  const all = Object.fromEntries(Object.keys(ACTIONS).map((name) => [name, "all"]));

  test("are only of what the person may do", () => {
    const offered = kinds.flatMap(({ actions }) => actions);
    expect(offered).toContain("session.create");
    expect(offered).not.toContain("user.create");
    expect(offered).not.toContain("auth.login");
  });

  test("for reading change nothing", () => {
    const read = actionsOf("read", kindsFor(all));
    expect(read.every(onlyReads)).toBe(true);
    expect(scopesOf(new Set(read), kindsFor(all))).toContain("session.read");
  });

  test("name a kind when all of it is chosen, and never more than that", () => {
    const tokens = Object.keys(ACTIONS).filter((name) => name.startsWith("token."));
    expect(scopesOf(new Set(tokens), kinds)).toEqual(["token.*"]);
    expect(scopesOf(new Set(tokens.slice(1)), kinds)).toEqual(tokens.slice(1));
    // All that they may on users is not all that there is.
    const users = kinds.find(({ kind }) => kind === "user")?.actions ?? [];
    expect(scopesOf(new Set(users), kinds)).toEqual(users);
  });

  test("are * only for everything", () => {
    expect(scopesOf(new Set(actionsOf("everything", kinds)), kinds)).toEqual(["*"]);
    expect(scopesOf(new Set(actionsOf("sessions", kinds)), kinds)).not.toContain("*");
    expect(scopesOf(new Set(), kinds)).toEqual([]);
  });

  test("stand in the command line, quoted where they must be", () => {
    const wish = { name: "my script", scopes: ["session.*", "image.read"], expires_in_days: null };
    expect(createTokenCommand(wish)).toBe(
      "carrel token create 'my script' --scope 'session.*' --scope image.read --days 0",
    );
  });
});

test("a span begins so long ago, to the minute", () => {
  const now = new Date("2026-11-21T12:34:56.789Z");
  expect(beginOf("week", now)).toBe("2026-11-14T12:34:00.000Z");
  expect(beginOf("all", now)).toBeUndefined();
});

describe("a request that the server refuses for now", () => {
  const answers: Response[] = [];
  const sent: Request[] = [];
  const problem = (code: string) => Response.json({ code }, { status: 403 });
  const ask = (body = "{}") => new Request("http://page.invalid/api/v1/keypairs", { method: "POST", body });

  beforeEach(() => {
    answers.length = 0;
    sent.length = 0;
    rememberCsrfToken("old");
    vi.stubGlobal("fetch", async (input: RequestInfo) => {
      sent.push(
        input instanceof Request ? input : new Request(new URL(String(input), "http://page.invalid")),
      );
      return answers.shift() ?? new Response(null, { status: 500 });
    });
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    rememberCsrfToken(null);
  });

  test("is sent again with the new token once they have confirmed that it is them", async () => {
    answers.push(problem("auth.confirm_needed"), Response.json({ made: true }, { status: 201 }));
    const going = send(ask('{"name":"ci"}'));
    await until(() => expect(identityConfirmation.isAsking()).toBe(true));
    rememberCsrfToken("new");
    identityConfirmation.settle(true);
    expect((await going).status).toBe(201);
    expect(sent).toHaveLength(2);
    expect(sent[1]?.headers.get("X-Carrel-CSRF")).toBe("new");
    expect(await sent[1]?.text()).toBe('{"name":"ci"}');
  });

  test("is refused when they would not", async () => {
    answers.push(problem("auth.confirm_needed"));
    const going = send(ask());
    await until(() => expect(identityConfirmation.isAsking()).toBe(true));
    identityConfirmation.settle(false);
    expect((await going).status).toBe(403);
    expect(sent).toHaveLength(1);
  });

  test("asks one time for all that wait", async () => {
    answers.push(problem("auth.confirm_needed"), problem("auth.confirm_needed"));
    answers.push(Response.json({}), Response.json({}));
    const going = Promise.all([send(ask()), send(ask())]);
    await until(() => expect(sent).toHaveLength(2));
    await until(() => expect(identityConfirmation.isAsking()).toBe(true));
    await new Promise((resolve) => setTimeout(resolve, 0));
    identityConfirmation.settle(true);
    expect((await going).map(({ status }) => status)).toEqual([200, 200]);
    expect(identityConfirmation.isAsking()).toBe(false);
  });

  test("is sent again when another tab got a new token", async () => {
    answers.push(problem("auth.csrf"), Response.json({ csrf_token: "fresh" }), Response.json({}));
    expect((await send(ask())).status).toBe(200);
    expect(sent[2]?.headers.get("X-Carrel-CSRF")).toBe("fresh");
  });

  test("is refused when there is no newer token", async () => {
    answers.push(problem("auth.csrf"), Response.json({ csrf_token: "old" }));
    expect((await send(ask())).status).toBe(403);
  });

  test("is left alone when it is refused for another reason", async () => {
    answers.push(problem("policy.forbidden"));
    expect((await send(ask())).status).toBe(403);
    expect(sent).toHaveLength(1);
  });
});
