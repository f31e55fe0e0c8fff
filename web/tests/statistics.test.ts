import { describe, expect, test } from "vitest";
import type { Me } from "@/api/types";
import { compared, shownRange, type UsedContainer } from "@/features/sessions/detail/usage-measures";
import { siteCommand } from "@/features/site/command";
import { statisticsFile } from "@/features/statistics/file-address";
import { daysOf, everyDay, recentMonths } from "@/features/statistics/period";
import { deeper, scopeChoices } from "@/features/statistics/scopes";
import { statisticsSearch } from "@/routing/search";

describe("a month", () => {
  test("has its first and last day, whatever its length", () => {
    expect(daysOf("2026-02")).toEqual({ from: "2026-02-01", to: "2026-02-28" });
    expect(daysOf("2028-02").to).toBe("2028-02-29");
    expect(daysOf("2026-12")).toEqual({ from: "2026-12-01", to: "2026-12-31" });
    expect(everyDay("2026-02-27", "2026-03-01")).toEqual(["2026-02-27", "2026-02-28", "2026-03-01"]);
  });

  test("is the newest of those to choose from, by the clock of the server's days", () => {
    const months = recentMonths(new Date("2026-01-01T00:30:00+09:00"));
    expect(months.slice(0, 2)).toEqual(["2025-12", "2025-11"]);
    expect(new Set(months).size).toBe(months.length);
  });

  test("in an address is one, or this month", () => {
    expect(statisticsSearch({ month: "2026-13", scope: "node", by: "image" })).toEqual({
      scope: undefined,
      ref: undefined,
      by: "image",
      month: undefined,
    });
  });
});

describe("whose statistics one may choose", () => {
  const projects = [
    { id: "p1", name: "vision", admin: true },
    { id: "p2", name: "speech", admin: false },
  ];
  const me = (reach: string) =>
    ({
      user: { id: "u", domain: { id: "d", name: "lab" } },
      projects,
      actions: { "usage.read": reach },
    }) as unknown as Me;
  const names = (reach: string) => scopeChoices(me(reach)).map(({ scope, name }) => name ?? scope);

  test("is what one administers", () => {
    expect(names("project")).toEqual(["user", "vision"]);
    expect(names("domain")).toEqual(["user", "lab", "vision"]);
    expect(names("all")).toEqual(["user", "site", "lab", "vision", "speech"]);
  });

  test("narrows from row to row", () => {
    expect(deeper("domain", "site")).toEqual({ scope: "domain", by: "project" });
    expect(deeper("user", "project")).toEqual({ scope: "user", by: "image" });
    expect(deeper("image", "site")).toBeNull();
    expect(deeper("project", "user")).toBeNull();
  });
});

test("a file has the same parameters as the page", () => {
  const query = { scope: "site", ref: undefined, by: "user", ...daysOf("2026-02") } as const;
  expect(statisticsFile(query)).toBe(
    "/api/v1/usage/statistics/export?scope=site&by=user&from=2026-02-01&to=2026-02-28",
  );
});

test("prices are written as on the command line", () => {
  expect(siteCommand({ slot_prices: { cpu: 0.02, mem: 0.005 } })).toBe(
    "carrel site set slot_prices=cpu=0.02,mem=0.005",
  );
});

test("all containers are compared until some are chosen", () => {
  const containers = ["main", "sub1", "sub2"].map(
    (name) => ({ id: name, name, measures: {} }) as UsedContainer,
  );
  expect(compared(containers, []).length).toBe(3);
  expect(compared(containers, ["sub1"]).map(({ name }) => name)).toEqual(["sub1"]);
  expect(shownRange([0, 600], 5, null)).toEqual([300, 600]);
  expect(shownRange([0, 600], 5, [10, 20])).toEqual([10, 20]);
});
