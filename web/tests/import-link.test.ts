import { describe, expect, it } from "vitest";
import { importCommand } from "@/features/imports/words";
import { importAddress, importLink, importOf, importOrigin } from "@/routing/import-link";
import { sessionsSearch } from "@/routing/search";

const URL_ = "https://github.com/acme/work?a=1&b='\"<()";

describe("the address of an import", () => {
  it("holds what is valid, and no secret", () => {
    const raw = {
      url: URL_,
      kind: "git",
      ref: 1,
      install: "yes",
      credentials: "token",
      token: "s3cret",
      folder: "",
    };
    expect(importOf(raw)).toEqual({ url: URL_, kind: "git", ref: "1", credentials: "token" });
    expect(importOf({ ref: "main" })).toBeUndefined();
    expect(importOf("x")).toBeUndefined();
    expect(sessionsSearch({ import: { url: 5, kind: "exe" } }).import).toEqual({ url: "5" });
  });

  it("gives the launcher's variables the same name wherever it is read", () => {
    const link = importLink({ ref: "main", url: URL_ });
    expect(importOrigin({ url: URL_, ref: "main" })).toBe(importOrigin(link));
    expect(importOrigin(JSON.parse(JSON.stringify(link)))).toBe(importOrigin(link));
  });

  it("is quoted in a badge, and numbers stay texts", () => {
    const address = importAddress("https://carrel.example.org", {
      url: URL_,
      ref: "1.10",
      credentials: "token",
    });
    const { pathname, searchParams } = new URL(address);
    expect(pathname).toBe("/import");
    expect([...searchParams]).toEqual([
      ["url", URL_],
      ["ref", '"1.10"'],
    ]);
    expect(address).not.toMatch(/['"<>()\s]/);
  });

  it("is a command line with quoted words", () => {
    expect(importCommand({ url: URL_, install: true, credentials: "key" }, "my data")).toBe(
      `carrel import 'https://github.com/acme/work?a=1&b='\\''"<()' --folder 'my data' --install --key-file key`,
    );
  });
});
