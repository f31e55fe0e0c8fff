import { readFileSync } from "node:fs";
import { i18n } from "@lingui/core";
import { describe, expect, test } from "vitest";
import { ACTIONS, type ActionName, SERVER_SENTENCES } from "@/api/actions";
import type { Me, Site } from "@/api/types";
import { exportAddress } from "@/features/audit/export-address";
import { auditFilter, dateText, endOf, lastDateText, startOf } from "@/features/audit/filter";
import { ceilingRows, ceilingsOf, ceilingWords } from "@/features/projects/ceilings";
import { siteCommand } from "@/features/site/command";
import { changedSiteSettings, SITE_DEFAULTS, siteSettingsOf } from "@/features/site/defaults";
import {
  createUserCommand,
  editUsersCommand,
  purgeUsersCommand,
  updateUserCommand,
} from "@/features/users/command";
import { CSV_TEMPLATE, parseUsers, patternUsers, pieces } from "@/features/users/drafts";
import { freshUser, toCreate, toUpdate } from "@/features/users/form-values";
import { ranksAbove } from "@/features/users/words";
import { may, mayBeyondOwn } from "@/me/may";
import { ACTION_SENTENCES } from "@/sentences/actions";
import { serverSort } from "@/ui/table/sorted";

describe("a file of users", () => {
  test("is read whatever the case and order of its titles", () => {
    const { rows, unknown, noEmail } = parseUsers(
      'Name, E-MAIL ,Projects,Must_Change_Password,shoe\n"Lovelace, Ada",ada@example.org,vision; speech,YES,38\n',
    );
    expect(noEmail).toBe(false);
    expect(unknown).toEqual(["shoe"]);
    expect(rows).toEqual([
      {
        name: "Lovelace, Ada",
        email: "ada@example.org",
        projects: ["vision", "speech"],
        must_change_password: true,
      },
    ]);
  });

  test("leaves out what is empty, so that defaults fill it", () => {
    expect(parseUsers("email,name,role\na@b.c,,\n\n,,\n").rows).toEqual([{ email: "a@b.c" }]);
  });

  test("must say which column holds the e-mails", () => {
    expect(parseUsers("ada@example.org,Ada\n")).toMatchObject({ noEmail: true, rows: [] });
  });

  test("may be tabbed, with line ends of any system and roles as people write them", () => {
    expect(parseUsers("email\trole\r\na@b.c\tDomain Admin\r\n").rows).toEqual([
      { email: "a@b.c", role: "domain_admin" },
    ]);
  });

  test("is like the template", () => {
    expect(parseUsers(CSV_TEMPLATE)).toMatchObject({
      unknown: [],
      rows: [{ email: "ada@example.org", projects: ["vision", "speech"] }],
    });
  });
});

describe("a pattern of users", () => {
  test("fills numbers up to the width of the last", () => {
    const emails = patternUsers({ prefix: "lab", suffix: "@example.org", count: 12 }).map((u) => u.email);
    expect(emails[0]).toBe("lab01@example.org");
    expect(emails[11]).toBe("lab12@example.org");
    expect(emails).toHaveLength(12);
  });

  test.each([
    { prefix: "", suffix: "a.b", count: 3 },
    { prefix: "lab", suffix: " ", count: 3 },
    { prefix: "lab", suffix: "a.b", count: 0 },
    { prefix: "lab", suffix: "a.b", count: 101 },
  ])("is nobody for %o", (pattern) => expect(patternUsers(pattern)).toEqual([]));
});

test("pieces hold everything once", () => {
  expect(pieces([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(pieces([], 2)).toEqual([]);
});

describe("a user's form", () => {
  const before = { ...freshUser("d1"), email: "a@b.c", name: "Ada", projects: ["p1", "p2"] };

  test("sends only what is other", () => {
    expect(toUpdate(before, { ...before, projects: ["p2", "p1"] })).toEqual({});
    expect(toUpdate(before, { ...before, name: "Ada L.", projects: ["p1"] })).toEqual({
      name: "Ada L.",
      projects: ["p1"],
    });
  });

  test("sends one way in", () => {
    expect(toCreate({ ...before, way: "generate" })).toMatchObject({ generate_password: true });
    expect(toCreate({ ...before, way: "link", password: "left over" })).not.toHaveProperty("password");
    expect(toCreate({ ...before, way: "password", password: "x" })).toMatchObject({ password: "x" });
  });

  test("shows a line that holds no password", () => {
    const line = createUserCommand(toCreate({ ...before, way: "password", password: "s3cret" }));
    expect(line).toContain("--password-stdin");
    expect(line).not.toContain("s3cret");
    expect(updateUserCommand("a@b.c", { projects: [], addresses: [] })).toBe(
      "carrel user update a@b.c --no-projects --no-addresses",
    );
  });

  test("tell what several people get, each by the command that is there for it", () => {
    const people = [{ email: "a@b.c" }, { email: "d@e.f" }];
    const nothing = { state: null, sessions: "keep", role: null, added: [], taken: [] } as const;
    expect(editUsersCommand(people, nothing)).toBeUndefined();
    const edits = { state: "inactive", sessions: "end", role: "superadmin", added: ["vision"] } as const;
    expect(editUsersCommand(people, { ...edits, taken: ["x y"] })?.split("\n")).toEqual([
      "carrel user disable a@b.c d@e.f --sessions end",
      "carrel user update a@b.c --role superadmin",
      "carrel user update d@e.f --role superadmin",
      "carrel project enrol vision a@b.c d@e.f",
      "carrel project expel 'x y' a@b.c d@e.f",
    ]);
    expect(purgeUsersCommand(people, true, { to: "g@h.i" })).toBe(
      "carrel user purge a@b.c d@e.f --sessions end --folders-to g@h.i",
    );
  });
});

test("ranks are those of the server", () => {
  expect(ranksAbove("superadmin", "domain_admin")).toBe(true);
  expect(ranksAbove("project_admin", "user")).toBe(false);
  expect(ranksAbove("user", "superadmin")).toBe(false);
});

describe("what somebody may do", () => {
  const me = (actions: Record<string, string>): Me => ({
    user: {
      id: "u1",
      email: "a@b.c",
      name: "Ada",
      role: "user",
      domain: { id: "d1", name: "one" },
      preferences: {},
    },
    projects: [
      { id: "p1", name: "mine", admin: true },
      { id: "p2", name: "other", admin: false },
    ],
    csrf_token: null,
    actions,
  });

  test("reaches as far as the server says", () => {
    expect(may(me({ "user.update": "domain" }), "user.update", { domain: "d1" })).toBe(true);
    expect(may(me({ "user.update": "domain" }), "user.update", { domain: "d2" })).toBe(false);
    expect(may(me({ "user.update": "all" }), "user.update", { domain: "d2" })).toBe(true);
    expect(may(me({}), "user.update", { owner: "u1" })).toBe(false);
    expect(may(me({ "user.read": "own" }), "user.read", { owner: "u1" })).toBe(true);
    expect(may(me({ "user.read": "own" }), "user.read", { owner: "u2" })).toBe(false);
  });

  test("in a project depends on whether they administer it", () => {
    expect(may(me({ "project.enrol": "project" }), "project.enrol", { project: "p1" })).toBe(true);
    expect(may(me({ "project.enrol": "project" }), "project.enrol", { project: "p2" })).toBe(false);
    expect(may(me({ "project.read": "project" }), "project.read", { project: "p2" })).toBe(true);
  });

  test("beyond their own is what opens administration", () => {
    expect(mayBeyondOwn(me({ "user.read": "own" }), "user.read")).toBe(false);
    expect(mayBeyondOwn(me({ "user.read": "project" }), "user.read")).toBe(true);
  });
});

describe("actions", () => {
  i18n.loadAndActivate({ locale: "en", messages: {} });

  test.each(Object.keys(ACTIONS) as ActionName[])("%s is said as the table says it", (action) => {
    expect(i18n._(ACTION_SENTENCES[action])).toBe(SERVER_SENTENCES[action]);
  });

  test("that are gone are said no more", () => {
    expect(Object.keys(ACTION_SENTENCES).sort()).toEqual(Object.keys(ACTIONS).sort());
  });
});

describe("the settings of the installation", () => {
  const schema = JSON.parse(readFileSync("../openapi.json", "utf8")).components.schemas.SiteView.properties;

  test.each(Object.entries(SITE_DEFAULTS))("%s has the server's default", (name, value) => {
    expect(schema[name]).toBeDefined();
    expect(schema[name].default ?? null).toEqual(value);
  });

  test("are all on the page", () => {
    const shown = [
      ...Object.keys(SITE_DEFAULTS),
      "mail_password_set",
      "mail_error",
      "mail_error_at",
      "mail_waiting",
    ];
    expect(Object.keys(schema).sort()).toEqual(shown.sort());
  });

  test("are sent only where they are changed", () => {
    const before = siteSettingsOf({
      mail_password_set: false,
      mail_error: null,
      mail_error_at: null,
    } as Site);
    expect(changedSiteSettings(before, { ...before })).toEqual({});
    expect(
      changedSiteSettings(before, { ...before, lock_minutes: 5, sign_up_email_domains: ["a.b"] }),
    ).toEqual({
      lock_minutes: 5,
      sign_up_email_domains: ["a.b"],
    });
  });

  test("have a line that holds no password", () => {
    expect(siteCommand({ sign_up: true, mail_password: "s3cret" })).toBe(
      "carrel site set sign_up=on --mail-password-stdin",
    );
  });
});

describe("ceilings", () => {
  test("leave out what is not limited", () => {
    const rows = ceilingRows({ mem: 2 ** 30, "cuda.device": 4 });
    expect(rows.map(({ slot, amount }) => [slot, amount])).toEqual([
      ["cpu", null],
      ["mem", 2 ** 30],
      ["cuda.device", 4],
    ]);
    expect(ceilingsOf(rows)).toEqual({ mem: 2 ** 30, "cuda.device": 4 });
    expect(ceilingsOf([{ slot: "cpu", amount: 0 }])).toEqual({ cpu: 0 });
  });

  test("are written as the command line reads them", () => {
    expect(ceilingWords({ cpu: 64_000, mem: 2 ** 39, "cuda.device": 4 })).toEqual([
      "--ceiling",
      "cpu=64",
      "--ceiling",
      "mem=512g",
      "--ceiling",
      "cuda.device=4",
    ]);
  });
});

describe("the audit trail", () => {
  test("is saved with the filters of the address", () => {
    expect(exportAddress({ action: "user.*", q: undefined, actor: "a b" }, "csv")).toBe(
      "/api/v1/audit/export?format=csv&action=user.*&actor=a+b",
    );
  });

  test("is filtered by a period that ends now, or by two dates", () => {
    const now = new Date("2026-01-31T14:05:30Z");
    const from = "2026-01-01T00:00:00.000Z";
    expect(auditFilter({ span: "hour", from, q: "ada", open: "7" }, now)).toEqual({
      from: "2026-01-31T13:05:00.000Z",
      to: undefined,
      q: "ada",
    });
    expect(auditFilter({ span: "custom", from }, now)).toEqual({ from });
  });

  test("includes all of the last date", () => {
    expect(dateText(startOf("2026-01-31"))).toBe("2026-01-31");
    expect(lastDateText(endOf("2026-01-31"))).toBe("2026-01-31");
    expect(Date.parse(endOf("2026-01-31") ?? "") - Date.parse(startOf("2026-01-31") ?? "")).toBe(86_400_000);
    expect(startOf("")).toBeUndefined();
    expect(lastDateText("no time")).toBe("");
  });
});

test("the server sorts by its own columns only", () => {
  const columns = [{ key: "email", title: { id: "x" }, sortable: true, value: () => null }] as const;
  expect(serverSort(columns, { sort: "email", order: "desc" })).toBe("-email");
  expect(serverSort(columns, { sort: "email" })).toBe("email");
  expect(serverSort(columns, { sort: "else" })).toBeUndefined();
  expect(serverSort(columns, {})).toBeUndefined();
});
