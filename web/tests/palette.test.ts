import { readFileSync } from "node:fs";
import { i18n } from "@lingui/core";
import { describe, expect, test } from "vitest";
import { ACTIONS } from "@/api/actions";
import type { Me, Node } from "@/api/types";
import { SITE_DEFAULTS } from "@/features/site/defaults";
import { groupsFor } from "@/shell/palette/groups";
import { indexEntries } from "@/shell/palette/index-entries";
import { grouped, nameIn, ranked } from "@/shell/palette/match";
import { COMMAND_WORDS, nodeEntries, sessionEntries } from "@/shell/palette/objects";
import { SITE_SETTINGS } from "@/shell/palette/settings";
import { aSession } from "./sessions";

i18n.loadAndActivate({ locale: "en", messages: {} });

const actionsOf = (role: "user" | "superadmin") =>
  Object.fromEntries(
    Object.entries(ACTIONS).flatMap(([name, scopes]) =>
      (scopes[role] as string) === "none" ? [] : [[name, scopes[role] as string]],
    ),
  );
const administrator: Me = {
  user: {
    id: "me",
    email: "me@example.org",
    name: "Ada",
    role: "superadmin",
    domain: { id: "d", name: "default" },
    preferences: {},
  },
  projects: [{ id: "p", name: "default", admin: true }],
  csrf_token: null,
  actions: actionsOf("superadmin"),
};
const newcomer: Me = {
  ...administrator,
  user: { ...administrator.user, role: "user" },
  actions: actionsOf("user"),
};
const app = { name: "jupyter", title: "JupyterLab" };
const objects = (me: Me) => [
  ...sessionEntries(aSession("s1", { name: "train_7" }), app, me, i18n),
  ...nodeEntries(
    { id: "n1", name: "gpu-node-1", cordoned: false, draining: false } as unknown as Node,
    me,
    i18n,
  ),
];
const firstFor = (me: Me, query: string, recent: string[] = []) =>
  groupsFor([...indexEntries(me, i18n), ...objects(me)], query, recent)[0]?.entries[0]?.id;

describe("the first entry for an administrator's query", () => {
  test.each([
    ["new session", "new"],
    ["jupyter", "new"],
    ["jupyter train_7", "app:s1"],
    ["add user", "new-user"],
    ["change password", "/settings/password"],
    ["two factor", "/settings/two-factor"],
    ["2fa", "/settings/two-factor"],
    ["api key", "/settings/keypairs"],
    ["token", "/settings/tokens"],
    ["ssh key", "/settings/ssh-keys"],
    ["dark", "theme:dark"],
    ["korean", "language:ko"],
    ["quota", "storage:quotas"],
    ["gpu", "new"],
    ["stop session train_7", "terminate:s1"],
    ["cordon gpu-node-1", "cordon:n1"],
    ["drain gpu-node-1", "drain:n1"],
    ["train_7", "session:s1"],
    ["gpu-node", "node:n1"],
    ["upload", "data"],
    ["limits", "policies"],
    ["logs", "sessions"],
    ["audit", "audit"],
    ["help", "help"],
    ["shortcuts", "shortcuts"],
    ["lockout duration", "site#lock_minutes"],
    ["smtp", "site#mail_host"],
    ["sign out", "sign-out"],
    ["로그아웃", "sign-out"],
  ])("%s: %s", (query, id) => expect(firstFor(administrator, query)).toBe(id));
});

describe("a user without an administration", () => {
  test.each([
    ["quota", "dashboard:limits"],
    ["limits", "dashboard:limits"],
    ["new session", "new"],
    ["sign out", "sign-out"],
  ])("%s: %s", (query, id) => expect(firstFor(newcomer, query)).toBe(id));

  test.each(["add user", "lockout duration", "cordon gpu-node-1", "identity providers"])(
    "finds no %s",
    (query) => expect(firstFor(newcomer, query)).toBeUndefined(),
  );

  test("may not terminate the sessions of others", () => {
    const other = aSession("s2", {
      owner: { id: "else", email: "b@example.org" },
      project: { id: "q", name: "q" },
    });
    expect(sessionEntries(other, app, newcomer, i18n).map(({ id }) => id)).toEqual(["session:s2"]);
    expect(sessionEntries(other, app, administrator, i18n).map(({ id }) => id)).toEqual([
      "session:s2",
      "terminate:s2",
    ]);
  });
});

describe("a match", () => {
  const entry = (id: string, title: string, more: object = {}) => ({ id, kind: "page", title, ...more });
  const found = (query: string, entries: ReturnType<typeof entry>[], recent: string[] = []) =>
    ranked(entries, query, recent).map(({ id }) => id);

  test("is at the start of words, for every word of the query", () => {
    const entries = [entry("a", "Resource groups"), entry("b", "Presets", { section: "Resources" })];
    expect(found("res gr", entries)).toEqual(["a"]);
    expect(found("preset resour", entries)).toEqual(["b"]);
    expect(found("source", entries)).toEqual([]);
  });

  test("is anywhere in scripts without spaces", () => {
    expect(found("単位", [entry("a", "資源単位一覧")])).toEqual(["a"]);
  });

  test("is exact first, then recent, then by the title", () => {
    const entries = [
      entry("section", "Nodes", { section: "Data" }),
      entry("inside", "All data"),
      entry("start", "Data hosts"),
      entry("exact", "Data"),
    ];
    expect(found("data", entries)).toEqual(["exact", "start", "inside", "section"]);
    expect(found("data", entries, ["section"])).toEqual(["exact", "section", "start", "inside"]);
  });

  test("is listed under its heading, a few of each", () => {
    const entries = ["1", "2", "3"].map((id) => entry(id, id));
    const other = { ...entry("4", "4"), kind: "node" };
    expect(grouped([...entries, other], 2)).toEqual([
      { kind: "page", entries: entries.slice(0, 2) },
      { kind: "node", entries: [other] },
    ]);
  });
});

test("names are what is left of a query without its commands", () => {
  expect(nameIn("stop session train_7", COMMAND_WORDS)).toBe("train_7");
  expect(nameIn("user Ada Lovelace", COMMAND_WORDS)).toBe("Lovelace");
  expect(nameIn("cordon", COMMAND_WORDS)).toBe("");
  expect(nameIn("session-1", COMMAND_WORDS)).toBe("session-1");
});

describe("without a query", () => {
  const all = [...indexEntries(administrator, i18n), ...objects(administrator)];

  test("recent entries come first, and are not repeated", () => {
    const [recent, ...others] = groupsFor(all, " ", ["site#mail_host", "gone", "new"]);
    expect(recent).toMatchObject({ kind: "recent", entries: [{ id: "site#mail_host" }, { id: "new" }] });
    expect(others.flatMap(({ entries }) => entries).map(({ id }) => id)).not.toContain("new");
  });

  test("settings and actions on objects wait for a search", () => {
    const ids = groupsFor(all, "", []).flatMap(({ entries }) => entries.map(({ id }) => id));
    expect(ids).toContain("session:s1");
    expect(ids.filter((id) => /#|^terminate|^cordon/.test(id))).toEqual([]);
  });
});

describe("the index", () => {
  test("has each entry once", () => {
    const ids = indexEntries(administrator, i18n).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("has every setting of the configuration", () => {
    expect(Object.keys(SITE_SETTINGS).sort()).toEqual(
      [...Object.keys(SITE_DEFAULTS), "mail_password"].sort(),
    );
  });

  test("has every page of the router", () => {
    const router = readFileSync("src/app/router.tsx", "utf8");
    const routed = [...router.matchAll(/getParentRoute: \(\) => shellRoute,\n\s+path: "([^"$]+)"/g)].map(
      ([, path]) => path,
    );
    const targets = [administrator, newcomer].flatMap((me) =>
      indexEntries(me, i18n).map(({ does }) => (does.act === "go" ? String(does.target.to) : "")),
    );
    // Former addresses, and those of links.
    const unlisted = ["/keypairs", "/settings", "/shared"];
    expect(routed.filter((path) => !unlisted.includes(path ?? "") && !targets.includes(path ?? ""))).toEqual(
      [],
    );
  });
});
