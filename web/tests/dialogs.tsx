import { I18nProvider } from "@lingui/react";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRouter,
  RouterContextProvider,
} from "@tanstack/react-router";
import type { ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { expect, vi } from "vitest";
import "@/api/client";
import { queryClient } from "@/app/query-client";
import { i18n } from "@/i18n";
import { until } from "./waiting";

export interface Asked {
  method: string;
  path: string;
  body: unknown;
  signal: AbortSignal;
}
type Answer = (asked: Asked) => unknown;

const me = {
  user: { id: "me", email: "me@example.org", role: "user", preferences: {} },
  projects: [{ id: "p", name: "default" }],
  actions: {},
  permissions: [],
};

/** The server: what is asked, which `answer` answers; undefined: an empty list. */
export function serving(answer: Answer): Asked[] {
  const asked: Asked[] = [];
  vi.stubGlobal("fetch", async (input: RequestInfo | URL) => {
    const request = input instanceof Request ? input : new Request(new URL(String(input), location.href));
    const text = await request.text();
    const one = {
      method: request.method,
      path: new URL(request.url).pathname.replace("/api/v1", ""),
      body: text ? JSON.parse(text) : undefined,
      signal: request.signal,
    };
    asked.push(one);
    const answered = await answer(one);
    return answered instanceof Response
      ? answered
      : Response.json(answered ?? { items: [], next_cursor: null });
  });
  return asked;
}

/** An error response. */
export const refused = (status: number, code: string, detail: string, field?: string): Response =>
  Response.json({ code, detail, field }, { status });

/** Shows a part of the page; `show` again replaces it. */
export function page() {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
  Element.prototype.scrollIntoView = () => {};
  Object.defineProperty(document, "fonts", { value: new EventTarget(), configurable: true });
  i18n.loadAndActivate({ locale: "en", messages: {} });
  queryClient.clear();
  queryClient.setQueryData(["auth", "me"], me);
  const router = createRouter({ routeTree: createRootRoute(), history: createMemoryHistory() });
  const root = createRoot(document.body.appendChild(document.createElement("div")));
  return {
    show: (part: ReactNode) =>
      root.render(
        <I18nProvider i18n={i18n}>
          <MantineProvider env="test">
            <QueryClientProvider client={queryClient}>
              <RouterContextProvider router={router as never}>{part}</RouterContextProvider>
            </QueryClientProvider>
          </MantineProvider>
        </I18nProvider>,
      ),
    close: () => root.unmount(),
  };
}

const labelled = (label: string) => {
  const found = [...document.querySelectorAll("label")].find((one) => one.textContent?.startsWith(label));
  return found && document.getElementById(found.htmlFor);
};

/** Writes into the field with this label, once it is there. */
export async function write(label: string, text: string): Promise<void> {
  const field = await until(() => found(labelled(label), label));
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value")?.set?.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

/** Clicks what has this text or accessible name, once it is there. */
export async function click(name: string): Promise<void> {
  const named = (one: HTMLElement) => (one.getAttribute("aria-label") ?? one.textContent) === name;
  const all = () => [...document.querySelectorAll<HTMLElement>("button, label")];
  (await until(() => found(all().find(named), name))).click();
}

function found<T>(one: T | null | undefined, name: string): T {
  if (one == null) throw new Error(`There is no ${name}.`);
  return one;
}

/** Waits until the page shows the text. */
export const shows = (text: string) => until(() => expect(document.body.textContent).toContain(text));

/** Waits until the page does not show the text. */
export const showsNo = (text: string) => until(() => expect(document.body.textContent).not.toContain(text));
