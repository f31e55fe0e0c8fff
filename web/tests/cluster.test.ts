import { describe, expect, test } from "vitest";
import { createCommand } from "@/features/sessions/launcher/command";
import { freshForm, isComplete, toCheck, toRequest } from "@/features/sessions/launcher/request";

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

  test("keeps the roles that it was copied with, which only a file can express", () => {
    const roles = [{ name: "worker", count: 2 }];
    expect(toRequest({ ...form, containers: 1, roles })).toMatchObject({ roles });
    expect(toRequest({ ...form, roles })).not.toHaveProperty("containers");
    expect(isComplete({ ...form, roles })).toBe(false);
  });
});
