// @vitest-environment happy-dom
import { I18nProvider } from "@lingui/react";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from "@tanstack/react-router";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { queryClient } from "@/app/query-client";
import { SessionsPage } from "@/features/sessions/SessionsPage";
import { i18n, loadMoreMessages } from "@/i18n";
import { applyEvent } from "@/live/apply";
import type { LiveEvent } from "@/live/stream";
import { sessionsListQuery } from "@/queries/sessions";
import { sessionsSearch } from "@/routing/search";
import { aSession, LIVE, pagesOf } from "./sessions";
import { until } from "./waiting";

const renders = await vi.hoisted(async () => {
  const { Renders } = await import("./renders");
  const made = new Renders();
  Object.assign(globalThis, { __REACT_DEVTOOLS_GLOBAL_HOOK__: made.hook, IS_REACT_ACT_ENVIRONMENT: true });
  return made;
});

const PAGE = 50;
const ROWS = 10_000;
/** Of 34 pixels each in a window of 816, and 16 further ones. */
const IN_VIEW = 40;
const pages = Array.from({ length: ROWS / PAGE }, (_, page) =>
  Array.from({ length: PAGE }, (_, index) => aSession(`s${page * PAGE + index}`)),
);

/** The server, which answers with what the page has already. */
async function answer(input: RequestInfo | URL): Promise<Response> {
  const { pathname, searchParams } = new URL(
    input instanceof Request ? input.url : String(input),
    location.href,
  );
  const at = Number(searchParams.get("cursor")?.replace("after-", "") ?? -1) + 1;
  const body =
    pathname === "/api/v1/sessions"
      ? { items: pages[at], next_cursor: at < pages.length - 1 ? `after-${at}` : null }
      : { items: [], next_cursor: null, kinds: [], states: [] };
  return Response.json(body);
}

const me = {
  user: { id: "me", email: "me@example.org", role: "user", preferences: {} },
  projects: [{ id: "p", name: "default" }],
  actions: [],
  permissions: [],
};

vi.setConfig({ testTimeout: 30_000 });

beforeAll(async () => {
  // They are there before a page is; later, they would render everything.
  await loadMoreMessages();
  // Ages would render every second.
  vi.useFakeTimers({ toFake: ["setInterval"] });
  vi.stubGlobal("fetch", answer);
  // Nothing is laid out here.
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
  Object.defineProperty(HTMLElement.prototype, "clientHeight", { get: () => 816 });
  Object.defineProperty(HTMLElement.prototype, "offsetHeight", { get: () => 34 });
  i18n.loadAndActivate({ locale: "en", messages: {} });
  queryClient.setQueryData(["auth", "me"], me);
  queryClient.setQueryData(sessionsListQuery(LIVE).queryKey, pagesOf(pages));
  const root = createRootRoute({ component: Outlet });
  const shell = createRoute({ getParentRoute: () => root, id: "shell" });
  const sessions = createRoute({
    getParentRoute: () => shell,
    path: "/sessions",
    validateSearch: sessionsSearch,
    component: SessionsPage,
  });
  const router = createRouter({
    routeTree: root.addChildren([shell.addChildren([sessions])]),
    history: createMemoryHistory({ initialEntries: ["/sessions"] }),
  });
  const place = document.body.appendChild(document.createElement("div"));
  await act(async () => {
    createRoot(place).render(
      <I18nProvider i18n={i18n}>
        <MantineProvider>
          <QueryClientProvider client={queryClient}>
            <RouterProvider router={router as never} />
          </QueryClientProvider>
        </MantineProvider>
      </I18nProvider>,
    );
  });
  await until(() => expect(document.querySelectorAll("tr[data-index]").length).toBeGreaterThan(20));
}, 60_000);

/** Lets the page show what has changed. */
const settle = () => act(() => new Promise<void>((resolve) => setTimeout(resolve, 50)));

/** The event that a session has another priority. */
const update = (id: string, priority: number) =>
  applyEvent(queryClient, { kind: "session.updated", data: { id, priority } } as LiveEvent, "me");

describe("in a list of 10,000 sessions", () => {
  test("the rows in view are rendered", async () => {
    await settle();
    const { rows } = renders.take();
    expect(document.querySelector("table")?.getAttribute("aria-rowcount")).toBe(String(ROWS + 1));
    expect([...rows.keys()]).toEqual(Array.from({ length: rows.size }, (_, index) => `s${index}`));
    expect(rows.size).toBe(IN_VIEW);
  });

  test("the same data from the server render nothing", async () => {
    await act(() => queryClient.refetchQueries({ queryKey: ["sessions", "list"] }));
    await settle();
    const { rows, components } = renders.take();
    expect([...rows]).toEqual([]);
    expect(components).not.toContain("SessionsPage");
  });

  test("an update renders its row and no other", async () => {
    await act(() => update("s3", 7));
    await settle();
    expect([...renders.take().rows]).toEqual([["s3", 1]]);
  });

  test("an update of a session out of view renders no row", async () => {
    await act(() => update("s5000", 7));
    await settle();
    expect([...renders.take().rows]).toEqual([]);
  });

  test("50 updates at once render each row in view once", async () => {
    await act(() =>
      Promise.all(Array.from({ length: 50 }, (_, at) => update(`s${at % 2 ? at : at * 100}`, at))),
    );
    await settle();
    const expected = Array.from({ length: 50 }, (_, at) => at).filter((at) => at % 2 === 1 && at < IN_VIEW);
    expect([...renders.take().rows].toSorted()).toEqual(
      ["s0", ...expected.map((at) => `s${at}`)].toSorted().map((id) => [id, 1]),
    );
  });
});
