import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { i18n } from "@lingui/core";
import { describe, expect, test } from "vitest";
import type { AuditEntry } from "@/api/types";
import { credentialText } from "@/features/audit/sentences/credential";
import { entryText, refusalText } from "@/features/audit/sentences/entry-text";
import { AUDITED_KINDS, actionsOfKind, labelOf } from "@/features/audit/sentences/nouns";
import type { Voice } from "@/features/audit/sentences/voice";

i18n.loadAndActivate({ locale: "en", messages: {} });
const voice: Voice = { say: (message) => i18n._(message), locale: "en" };

function entry(action: string, name: string, details: object, more: Partial<AuditEntry> = {}): AuditEntry {
  return {
    id: 1,
    at: "2026-01-31T14:00:00Z",
    actor: { id: "u1", email: "root@example.org" },
    action,
    object: { kind: action.split(".")[0] ?? "", id: "o1", name },
    owner_id: null,
    project_id: null,
    domain_id: null,
    outcome: "done",
    reason: "",
    credential: "cookie",
    address: "192.0.2.7",
    request_id: "r1",
    details: { ...details },
    position: null,
    hash: null,
    ...more,
  };
}

const change = (before: object | null, after: object | null, more: object = {}) => ({
  before,
  after,
  ...more,
});
const GIB = 2 ** 30;

describe("what an entry tells", () => {
  test.each<[string, string, object, string]>([
    [
      "project.update",
      "vision",
      change({ ceilings: { cpu: 1000 } }, { ceilings: { cpu: 4000 } }),
      "Raised the CPU limit of vision from 1 to 4",
    ],
    [
      "project.update",
      "vision",
      change({ ceilings: { cpu: 4000, mem: GIB } }, { ceilings: { cpu: 1000, mem: 2 * GIB } }),
      "Changed limits of vision: CPU 4 → 1, memory 1 GiB → 2 GiB",
    ],
    [
      "domain.update",
      "lab",
      change({ ceilings: {} }, { ceilings: { cpu: 500 } }),
      "Set the CPU limit of lab to 0.5",
    ],
    [
      "policy.update",
      "default",
      change({ limits: { sessions: 5, slots: {} } }, { limits: { sessions: 3, slots: {} } }),
      "Lowered the concurrent sessions limit of default from 5 to 3",
    ],
    [
      "policy.update",
      "default",
      change({ limits: { lifetime_s: 3600 } }, { limits: { lifetime_s: "unlimited" } }),
      "Removed the session lifetime limit of default (it was 1 hour)",
    ],
    [
      "policy.create",
      "small",
      { after: { kind: "user", name: "small", limits: {} } },
      "Created the resource policy small",
    ],
    [
      "policy.assign",
      "small",
      change({ policy: "p1" }, { policy: "p2" }, { keypair: "AK1", user: "ada@example.org" }),
      "Assigned the resource policy small to a keypair of ada@example.org",
    ],
    [
      "node.update",
      "vm",
      change({ cordoned: false, draining: null }, { cordoned: true, draining: "wait" }),
      "Drained vm",
    ],
    ["node.update", "vm", change({ cordoned: false }, { cordoned: true }), "Cordoned vm"],
    ["node.update", "vm", change({ cordoned: true }, { cordoned: false }), "Uncordoned vm"],
    [
      "node.update",
      "vm",
      change({ reserved: {} }, { reserved: { cpu: 1000, mem: GIB } }),
      "Changed the reserved resources of vm from none to 1 CPU, 1 GiB",
    ],
    ["node.update", "vm", { after: { forgotten: true }, sessions: [] }, "Removed the node vm"],
    [
      "session.create",
      "demo",
      { after: { image: "python", slots: { cpu: 1000, mem: GIB } } },
      "Created the session demo with 1 CPU, 1 GiB",
    ],
    [
      "session.update",
      "demo",
      change({ name: "demo" }, { name: "train" }),
      "Renamed the session demo to train",
    ],
    [
      "session.update",
      "demo",
      change({ priority: 50 }, { priority: 60 }),
      "Changed the priority of the session demo from 50 to 60",
    ],
    ["session.remove", "demo", { force: false }, "Terminated the session demo"],
    ["session.remove", "demo", { force: true }, "Force-terminated the session demo"],
    ["session.exec", "demo", { terminal: "t1" }, "Opened a terminal in the session demo"],
    ["session.exec", "demo", { command: "ls" }, "Ran ls in the session demo"],
    ["app.open", "demo", { app: "jupyter" }, "Opened jupyter in the session demo"],
    [
      "vfolder.share",
      "data",
      change(null, { permission: "rw", state: "invited" }, { with: "ada@example.org", share: "s1" }),
      "Shared the folder data with ada@example.org (Read and write)",
    ],
    [
      "vfolder.share",
      "data",
      change({ permission: "ro", state: "accepted" }, null, { with: "ada@example.org", share: "s1" }),
      "Stopped sharing the folder data with ada@example.org",
    ],
    [
      "vfolder.share",
      "data",
      change({ permission: "ro" }, { permission: "rw" }, { with: "ada@example.org", share: "s1" }),
      "Changed the permission of ada@example.org on the folder data from Read to Read and write",
    ],
    [
      "vfolder.join",
      "data",
      { share: "accepted", permission: "ro" },
      "Accepted the invitation to the folder data",
    ],
    [
      "vfolder.hand_over",
      "data",
      change({ owner: "u1" }, { owner: "u2" }, { to: "ada@example.org" }),
      "Transferred ownership of the folder data to ada@example.org",
    ],
    [
      "vfolder.update",
      "data",
      change({ state: "READY" }, { state: "TRASHED" }),
      "Moved the folder data to the trash",
    ],
    [
      "vfolder.update",
      "data",
      change({ host: "h1" }, { host: "h2" }, { to: "archive" }),
      "Moved the folder data to the storage host archive",
    ],
    [
      "vfolder.update",
      "data",
      change({ host: "h1" }, { host: "h2" }),
      "Moved the folder data to another storage host",
    ],
    [
      "node.update",
      "gpu1",
      change({ group_id: "g1" }, { group_id: "g2" }, { to: "training" }),
      "Moved the node gpu1 to the resource group training",
    ],
    ["file.upload", "data", { paths: ["a.txt"], count: 1, bytes: 3 }, "Uploaded a.txt to the folder data"],
    [
      "file.remove",
      "data",
      { paths: ["a.txt", "b"], count: 2 },
      "Deleted a.txt and 1 more from the folder data",
    ],
    [
      "user.update",
      "ada@example.org",
      change({ role: "user" }, { role: "domain_admin" }),
      "Changed the role of ada@example.org from User to Domain administrator",
    ],
    [
      "user.update",
      "ada@example.org",
      change({ state: "active" }, { state: "inactive" }),
      "Deactivated ada@example.org",
    ],
    [
      "user.update",
      "ada@example.org",
      change({ name: "Ada" }, { name: "Ada L." }),
      "Changed the name of ada@example.org from Ada to Ada L.",
    ],
    [
      "user.update",
      "ada@example.org",
      change({ name: "Ada", must_change_password: false }, { name: "A", must_change_password: true }),
      "Changed the user ada@example.org: name, password change required",
    ],
    [
      "user.create",
      "ada@example.org",
      { after: { email: "ada@example.org" } },
      "Created the user ada@example.org",
    ],
    ["project.enrol", "vision", { after: { "a@b.c": "member" } }, "Added a@b.c to the project vision"],
    [
      "project.enrol",
      "vision",
      change({ "a@b.c": "member" }, { "a@b.c": "administrator" }),
      "Made a@b.c an administrator of the project vision",
    ],
    ["project.enrol", "vision", { before: { "a@b.c": "member" } }, "Removed a@b.c from the project vision"],
    [
      "site.update",
      "site",
      change({ lock_minutes: 20 }, { lock_minutes: 30 }),
      "Changed the setting lockout duration from 20 minutes to 30 minutes",
    ],
    [
      "site.update",
      "site",
      change({ lock_minutes: 20, sign_up: false }, { lock_minutes: 30, sign_up: true }),
      "Changed settings: lockout duration, sign-up",
    ],
    [
      "group.update",
      "gpu",
      change({ active: true }, { active: false }),
      "Deactivated the resource group gpu",
    ],
    ["storage_host.update", "nfs", { before: { name: "nfs" } }, "Removed the storage host nfs"],
    ["engine.update", "k8s", { after: { name: "k8s", kind: "x" } }, "Created the engine k8s"],
    ["preset.update", "small", { removed: true }, "Removed the preset small"],
    [
      "provider.update",
      "corp",
      { what: "changed", before: { active: false }, after: { active: true } },
      "Activated the identity provider corp",
    ],
    ["keypair.create", "laptop", {}, "Created the keypair laptop"],
    ["factor.update", "a@b.c", { added: "passkey", passkey: "Key" }, "Added the passkey Key"],
    ["audit.export", "", { format: "csv" }, "Exported the audit trail"],
  ])("%s of %s: %o", (action, name, details, sentence) => {
    expect(entryText(entry(action, name, details), voice)).toBe(sentence);
  });

  test("of a refused action is what was attempted, and why it was refused", () => {
    const refused = entry(
      "session.remove",
      "",
      {},
      {
        outcome: "refused",
        reason: "session.forbidden: You may not end it: it is not yours.",
      },
    );
    expect(entryText(refused, voice)).toBe("Terminate: session o1");
    expect(refusalText(refused, voice)).toBe("You may not end it: it is not yours.");
    expect(refusalText({ ...refused, reason: "wrong password" }, voice)).toBe("wrong password");
  });

  test("of counted refusals is how many, and what was attempted most", () => {
    const sum = entry(
      "session.remove",
      "",
      { refusals: [{ action: "session.remove", object: "o1", code: "session.not_found", times: 5 }] },
      { outcome: "refused", reason: "audit.many: 5 more refusals within 5 minutes." },
    );
    expect(entryText(sum, voice)).toBe("5 more refused attempts");
    expect(refusalText(sum, voice)).toBe("Mostly: Terminate (session)");
  });

  test("survives details of any shape", () => {
    for (const action of AUDITED_KINDS.flatMap(actionsOfKind)) {
      for (const details of [{}, { before: 1, after: [2] }, { before: { x: {} }, after: { x: null } }])
        expect(entryText(entry(action, "x", details), voice), action).not.toMatch(/undefined|\[object/);
    }
  });
});

test("every action that the server records has a name in the filter", () => {
  const source = readdirSync("../src/carrel", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".py"))
    .map((file) => readFileSync(join("../src/carrel", file), "utf8"))
    .join("\n");
  const kinds = AUDITED_KINDS.join("|");
  const recorded = [
    ...source.matchAll(
      new RegExp(
        `(?<!events\\.)(?:record|note|record_own|intent)\\((?:[^()"]*),\\s*"((?:${kinds})\\.[a-z_]+)"`,
        "g",
      ),
    ),
  ].map(([, action]) => action ?? "");
  expect(recorded.length).toBeGreaterThan(40);
  for (const action of recorded.filter((one) => !/\.(created|updated|removed|changed)$/.test(one))) {
    expect(AUDITED_KINDS.flatMap(actionsOfKind), action).toContain(action);
    expect(labelOf(action), action).toBeDefined();
  }
});

test("a credential is named, not spelled", () => {
  expect(credentialText("cookie", voice)).toBe("Browser");
  expect(credentialText("keypair:AK1", voice)).toBe("Keypair AK1");
  expect(credentialText("oidc:corp", voice)).toBe("Identity provider corp");
});
