import { describe, expect, test } from "vitest";
import { changedSettings, givenSettings, settingsOf, settingWords } from "@/ui/form/settings";

const SCHEMA = {
  type: "object",
  required: ["root", "token"],
  properties: {
    root: { type: "string", format: "path", title: "Root" },
    stripes: { type: "integer", minimum: 1, maximum: 8, default: 1, description: "Over so many disks." },
    token: { type: "string", format: "password", writeOnly: true },
    tls: { enum: ["on", "off"], type: "string", default: "on" },
    verify: { type: "boolean", default: true },
    servers: { type: "array", items: { type: "string" } },
  },
};

describe("the settings of a plug-in", () => {
  const settings = settingsOf(SCHEMA);

  test("have a field each, in their order", () => {
    expect(settings.map(({ name, kind }) => [name, kind])).toEqual([
      ["root", "text"],
      ["stripes", "number"],
      ["token", "secret"],
      ["tls", "choice"],
      ["verify", "switch"],
      ["servers", "list"],
    ]);
    expect(settings.filter(({ required }) => required).map(({ name }) => name)).toEqual(["root", "token"]);
    expect(settings[1]).toMatchObject({
      title: "stripes",
      description: "Over so many disks.",
      usual: 1,
      min: 1,
      max: 8,
    });
    expect(settings[3]?.choices).toEqual(["on", "off"]);
  });

  test("that were left empty are not sent, nor those of another kind", () => {
    const given = givenSettings(settings, {
      root: "/srv",
      stripes: undefined,
      token: "",
      verify: false,
      colour: "blue",
    });
    expect(given).toEqual({ root: "/srv", verify: false });
  });

  test("that are others now are sent, and null where one is as usual again", () => {
    const before = { root: "/srv", stripes: 2, verify: false, servers: ["a"] };
    const now = { ...before, root: "", stripes: 3, servers: ["a", "b"], token: "" };
    expect(changedSettings(settings, before, now)).toEqual({ root: null, stripes: 3, servers: ["a", "b"] });
  });

  test("are options of the command line, secrets without their value", () => {
    const given = { root: null, token: "hunter2", verify: false, servers: ["a", "b"], stripes: 2 };
    expect(settingWords(settings, given).join(" ")).toBe(
      "--unset root --stripes 2 --token - --no-verify --servers a --servers b",
    );
  });

  test("of no schema are none", () => {
    expect(settingsOf(undefined)).toEqual([]);
    expect(settingsOf({})).toEqual([]);
  });
});
