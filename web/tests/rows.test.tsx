// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider, useInfiniteQuery } from "@tanstack/react-query";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { beforeAll, expect, test, vi } from "vitest";
import { useNearEnd } from "@/ui/table/use-near-end";
import { useRows } from "@/ui/table/use-rows";

interface Page {
  items: string[];
  next: string | null;
}

/** Requests in flight, by cursor; the test answers them. */
const requests: { cursor: string | null; answer: (page: Page) => void }[] = [];

/** A short list: its end is always near. */
function List() {
  const list = useInfiniteQuery({
    queryKey: ["list"],
    queryFn: ({ pageParam, signal }) =>
      new Promise<Page>((answer, fail) => {
        requests.push({ cursor: pageParam, answer });
        signal.addEventListener("abort", () => fail(new Error("cancelled")));
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page: Page) => page.next,
    retry: false,
  });
  const { rows, more } = useRows(list);
  useNearEnd(rows.length - 1, rows.length, more);
  return <p>{rows.join(" ")}</p>;
}

const settle = () => act(() => new Promise((done) => setTimeout(done)));

beforeAll(() => vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true));

test("a next page that a refetch cancelled is loaded again", async () => {
  const client = new QueryClient();
  const place = document.createElement("div");
  const root = createRoot(place);
  await act(() =>
    root.render(
      <QueryClientProvider client={client}>
        <List />
      </QueryClientProvider>,
    ),
  );
  const first = { items: ["a"], next: "after-a" };
  requests.shift()?.answer(first);
  await settle();
  expect(requests.map(({ cursor }) => cursor)).toEqual(["after-a"]);
  // An event about the list comes while its next page is on the way.
  void client.invalidateQueries({ queryKey: ["list"] });
  await settle();
  expect(requests.map(({ cursor }) => cursor)).toEqual(["after-a", null]);
  requests.pop()?.answer(first);
  await settle();
  expect(requests.map(({ cursor }) => cursor)).toEqual(["after-a", "after-a"]);
  requests.pop()?.answer({ items: ["b"], next: null });
  await settle();
  expect(place.textContent).toBe("a b");
  act(() => root.unmount());
});
