import { describe, expect, test } from "vitest";
import { givenSettings, settingsOf, settingWords } from "@/ui/form/settings";

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

  test("are in the command line, secrets without their value", () => {
    expect(settingWords(settings, { token: "hunter2", servers: ["a", "b"] })).toEqual([
      "--set",
      "token=...",
      "--set",
      "servers=a,b",
    ]);
  });

  test("of no schema are none", () => {
    expect(settingsOf(undefined)).toEqual([]);
    expect(settingsOf({})).toEqual([]);
  });
});
