// @vitest-environment happy-dom
import { describe, expect, test } from "vitest";
import { createCommand, fileCommand } from "@/features/sessions/launcher/command";
import { fromLink, keepVariables, toLink, withKeptVariables } from "@/features/sessions/launcher/link";
import { formOf, freshForm, isComplete, toCheck, toRequest } from "@/features/sessions/launcher/request";
import { changedRole, requested } from "@/features/sessions/launcher/roles";
import { environmentRow } from "@/features/sessions/launcher/variables";
import { launchLink } from "@/routing/launch-link";

const form = { ...freshForm("starter"), containers: 4 };

describe("a cluster in the launcher", () => {
  test("requests so many containers, and what is not the default", () => {
    expect(toRequest(form)).toMatchObject({ containers: 4 });
    expect(toRequest(form)).not.toHaveProperty("placement");
    const request = toRequest({ ...form, placement: "together", on_failure: "continue" });
    expect(request).toMatchObject({ containers: 4, placement: "together", on_failure: "continue" });
  });

  test("is left out of a session with one container", () => {
    const request = toRequest({ ...form, containers: 1, placement: "together", on_failure: "continue" });
    expect(Object.keys(request).sort()).toEqual(["image", "slots"]);
  });

  test("is estimated with all its containers", () => {
    const check = toCheck({ ...form, placement: "together", on_failure: "continue" });
    expect(check).toMatchObject({ containers: 4, placement: "together" });
    expect(check).not.toHaveProperty("on_failure");
  });

  test("has a command line", () => {
    const request = toRequest({ ...form, placement: "together", on_failure: "continue" });
    expect(createCommand(request)).toBe(
      "carrel session create --image starter --cpu 1 --mem 1g --cluster-size 4 --placement together --on-failure continue",
    );
  });

  test("is within one domain of a level", () => {
    const placed = { ...form, placement: "together" as const, topology: "example.org/rack" };
    expect(toCheck(placed)).toMatchObject({ placement: "together", topology: "example.org/rack" });
    expect(createCommand(toRequest(placed))).toBe(
      "carrel session create --image starter --cpu 1 --mem 1g --cluster-size 4 --placement together --topology example.org/rack",
    );
    expect(formOf(toRequest(placed), [], []).topology).toBe("example.org/rack");
    expect(fromLink(launchLink(toLink(placed, form)), form)).toEqual(placed);
    expect(toRequest({ ...placed, containers: 1 })).not.toHaveProperty("topology");
  });

  test("has roles with names and amounts of their own, which only a file can express", () => {
    const roles = [{ name: "worker", count: 2 }];
    expect(toRequest({ ...form, containers: 1, roles })).toMatchObject({ roles });
    expect(toRequest({ ...form, roles })).not.toHaveProperty("containers");
    expect(isComplete({ ...form, roles })).toBe(true);
    expect(isComplete({ ...form, roles: [...roles, ...roles] })).toBe(false);
    expect(isComplete({ ...form, roles: [{ name: "Worker" }] })).toBe(false);
    expect(fileCommand({ kind: "batch" }, "roles:\n- name: worker\n")).toBe(
      "carrel run --detach -f - <<'END'\nroles:\n- name: worker\nEND",
    );
  });

  test("has roles with every slot, an image, a command and shared memory of their own", () => {
    const worker = { name: "worker", count: 2 };
    const own = requested({ cpu: 1000, mem: 2 ** 30, "cuda.device": 2, "cuda.shares": 0 });
    expect(own).toEqual({ cpu: 1000, mem: 2 ** 30, "cuda.device": 2 });
    const larger = changedRole(worker, { slots: own, shm_bytes: 2 ** 28, image: "debian:12" });
    expect(larger).toEqual({ ...worker, slots: own, shm_bytes: 2 ** 28, image: "debian:12" });
    expect(changedRole(larger, { slots: undefined, shm_bytes: undefined, image: "" })).toEqual(worker);
    const initial = { ...freshForm("starter"), roles: [worker] };
    const link = launchLink(toLink({ ...initial, roles: [larger] }, initial));
    expect(fromLink(link, initial).roles).toEqual([larger]);
  });

  test("has roles with variables of their own, which no link has", () => {
    const worker = { name: "worker", count: 2, variables: [environmentRow("TOKEN", "secret")] };
    const own = { ...freshForm("starter"), roles: [{ name: "main" }, worker] };
    const request = toRequest(own);
    expect(request.roles).toEqual([{ name: "main" }, { name: "worker", count: 2, env: { TOKEN: "secret" } }]);
    expect(toRequest(formOf(request, [], []))).toEqual(request);
    const wrong = { ...worker, variables: [environmentRow("1X", "v")] };
    expect(isComplete({ ...own, roles: [wrong] })).toBe(false);
    const link = launchLink(toLink(own, freshForm("starter")));
    expect(JSON.stringify(link)).not.toContain("TOKEN");
    // The tab keeps them, each with its role.
    keepVariables("new", own);
    const restored = withKeptVariables("new", fromLink(link, freshForm("starter")));
    expect(toRequest(restored).roles).toEqual(request.roles);
    keepVariables("new", { env: [], roles: [] });
    expect(withKeptVariables("new", own)).toBe(own);
  });
});
