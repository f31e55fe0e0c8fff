import { queryOptions } from "@tanstack/react-query";
import { appsList } from "@/api/generated/sdk.gen";

/** The apps a session offers, and whether each is running. */
export function appsListQuery(id: string) {
  return queryOptions({
    queryKey: ["apps", "list", id] as const,
    queryFn: async ({ signal }) => (await appsList({ path: { ref: id }, signal })).data.items,
  });
}
