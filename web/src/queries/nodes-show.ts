import { queryOptions } from "@tanstack/react-query";
import { nodesShow } from "@/api/generated/sdk.gen";

/** One node with the sessions on it, by id. */
export function nodesShowQuery(id: string) {
  return queryOptions({
    queryKey: ["nodes", "show", id] as const,
    queryFn: async ({ signal }) => (await nodesShow({ path: { ref: id }, signal })).data,
  });
}
