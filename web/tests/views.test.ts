import { describe, expect, it } from "vitest";
import { isFiltered, NO_VIEW, searchOf, shows, viewOf } from "@/features/sessions/views/view-search";
import { sessionsSearch } from "@/routing/search";

const SEARCH = sessionsSearch({ state: "ended", q: "train", sort: "name", session: "abc", tab: "logs" });

describe("saved views of the session list", () => {
  it("hold filter, order and columns, but no open drawer", () => {
    expect(viewOf(SEARCH, ["state", "name"])).toEqual({
      state: "ended",
      q: "train",
      sort: "name",
      columns: "state,name",
    });
  });

  it("are shown while the address has exactly what was saved", () => {
    const view = { search: viewOf(SEARCH, ["state", "name"]) };
    const opened = sessionsSearch({ ...searchOf(view) });
    expect(shows(opened, view)).toBe(true);
    expect(shows({ ...opened, session: "other" }, view)).toBe(true);
    expect(shows({ ...opened, q: "another" }, view)).toBe(false);
    expect(shows({ ...opened, kind: "batch" }, view)).toBe(false);
  });

  it("leave out what this version does not know", () => {
    expect(searchOf({ search: { state: "dreaming", owner: "all", colour: "red" } })).toEqual({
      owner: "all",
    });
  });

  it("are offered for saving only with a filter, an order or columns", () => {
    expect(isFiltered(sessionsSearch({ session: "abc" }))).toBe(false);
    expect(isFiltered(sessionsSearch({ kind: "batch" }))).toBe(true);
    expect(isFiltered({ ...SEARCH, ...NO_VIEW })).toBe(false);
  });
});
