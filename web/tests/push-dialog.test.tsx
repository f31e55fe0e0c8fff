// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Environment, EnvironmentPush, EnvironmentVersion, PushTarget } from "@/api/types";
import { queryClient } from "@/app/query-client";
import { PushDialog } from "@/features/environments/PushDialog";
import { PushRows } from "@/features/environments/PushRows";
import { i18n } from "@/i18n";
import { type Asked, click, page, refused, serving, shows, showsNo } from "./dialogs";
import { until } from "./waiting";

const ENVIRONMENT = { id: "e", name: "torch", may_change: true } as Environment;
const target = (id: string, name: string): PushTarget => ({
  ...{ id, name, prefix: `${id}.example.org`, repositories: ["team/*"], repository: "team/torch" },
});
const push = (changes: Partial<EnvironmentPush>) =>
  ({
    ...{ id: "u", environment_id: "e", version: "2", reference: "r.example.org/team/torch:2" },
    ...{ state: "running", cancel: false, progress: 0.5, problem: null, code: null, digest: null },
    ...{ pinned: null, created_at: "2026-11-27T10:00:00Z", ended_at: null, ...changes },
  }) as EnvironmentPush;

let place: ReturnType<typeof page>;
let asked: Asked[];
let targets: { items: PushTarget[]; refusal: string | null };
let pushes: EnvironmentPush[];

beforeEach(() => {
  asked = serving(({ path, method }) => {
    if (method === "DELETE") return refused(409, "push.ended", "It has ended.");
    if (path.endsWith("/push-targets")) return targets;
    return path.endsWith("/pushes") ? { items: pushes, next_cursor: null } : undefined;
  });
  place = page();
});

afterEach(() => {
  place.close();
  vi.unstubAllGlobals();
});

const dialog = () =>
  place.show(
    <PushDialog
      environment={ENVIRONMENT}
      version={{ name: "2" } as EnvironmentVersion}
      opened
      onClose={() => {}}
    />,
  );

describe("the dialog of a push", () => {
  test("says that there is no registry, and is a form as soon as there is one", async () => {
    targets = { items: [], refusal: null };
    await dialog();
    await shows("There is no registry to which you may push.");
    targets = { items: [target("r1", "ours")], refusal: null };
    await queryClient.invalidateQueries({ queryKey: ["environments"] });
    await shows("r1.example.org/team/torch:2");
    await shows("carrel environment push e:2 --registry ours --as team/torch:2");
    await click("Push");
    await until(() =>
      expect(asked.find(({ method }) => method === "POST")).toMatchObject({
        path: "/environments/e/versions/2/push",
        body: { registry: "r1", repository: "team/torch", tag: "2" },
      }),
    );
  });

  test("names one of two registries of the same name by its id", async () => {
    targets = { items: [target("r1", "ours"), target("r2", "ours")], refusal: null };
    await dialog();
    await shows("--registry r1 --as");
  });

  test("explains that the engine cannot push, in words of the page", async () => {
    targets = { items: [target("r1", "ours")], refusal: "Its engine cannot push images." };
    await dialog();
    await shows("The engine that has this version cannot push images. Build it again");
    await showsNo("Its engine");
  });
});

describe("a push in the details", () => {
  const rows = () => place.show(<PushRows environment={ENVIRONMENT} />);

  test("says why it could not be canceled", async () => {
    pushes = [push({})];
    await rows();
    await shows("being pushed");
    await click("Cancel: r.example.org/team/torch:2");
    await shows("It has ended.");
  });

  test("that failed has the reason in other languages, and what the registry said", async () => {
    i18n.loadAndActivate({ locale: "ko", messages: {} });
    pushes = [
      push({
        state: "failed",
        ended_at: "2026-11-27T10:01:00Z",
        code: "push_denied",
        problem: "No (denied).",
      }),
    ];
    await rows();
    await shows("The account of the registry may not write there. No (denied).");
  });
});
