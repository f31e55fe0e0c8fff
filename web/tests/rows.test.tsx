// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider, useInfiniteQuery } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { beforeEach, describe, expect, test } from "vitest";
import { useRows } from "@/ui/table/use-rows";
import { until } from "./waiting";

/** Requests in flight, oldest first: the page, and its answer. */
let flights: { page: number; answer: () => void }[] = [];
let rows: string[] = [];
let more = () => {};
let client = new QueryClient();

function List() {
  const list = useInfiniteQuery({
    queryKey: ["list"],
    queryFn: ({ pageParam }) =>
      new Promise<{ items: string[] }>((resolve) => {
        flights.push({ page: pageParam, answer: () => resolve({ items: [`row ${pageParam}`] }) });
      }),
    initialPageParam: 1,
    getNextPageParam: (_page, pages) => (pages.length < 3 ? pages.length + 1 : undefined),
  });
  ({ rows, more } = useRows(list));
  return null;
}

/** Answers the next request, which must be for this page. */
async function answer(page: number): Promise<void> {
  await until(() => expect(flights.map((one) => one.page)).toEqual([page]));
  flights.shift()?.answer();
}

const expectRows = (expected: string[]) => until(() => expect(rows).toEqual(expected));

beforeEach(async () => {
  client = new QueryClient();
  flights = [];
  createRoot(document.createElement("div")).render(
    <QueryClientProvider client={client}>
      <List />
    </QueryClientProvider>,
  );
  await answer(1);
  await expectRows(["row 1"]);
});

describe("the next page", () => {
  test("is loaded once, however often it is requested", async () => {
    more();
    more();
    await answer(2);
    await expectRows(["row 1", "row 2"]);
    expect(flights).toEqual([]);
  });

  test("is loaded after a refetch, which goes on", async () => {
    void client.invalidateQueries();
    more();
    await answer(1);
    await answer(2);
    await expectRows(["row 1", "row 2"]);
  });

  test("is loaded after a refetch that cancels it", async () => {
    more();
    await until(() => expect(flights.splice(0).map((one) => one.page)).toEqual([2]));
    void client.invalidateQueries();
    await answer(1);
    await answer(2);
    await expectRows(["row 1", "row 2"]);
  });
});
