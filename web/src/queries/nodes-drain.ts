import { queryOptions } from "@tanstack/react-query";
import { nodesDrain } from "@/api/generated/sdk.gen";
import type { Draining } from "@/api/types";

/** What would become of each session on a node, were it emptied like this. Nothing is done. */
export function nodesDrainQuery(id: string, how: Draining) {
  return queryOptions({
    queryKey: ["nodes", "drain", id, how] as const,
    queryFn: async ({ signal }) =>
      (await nodesDrain({ path: { ref: id }, body: { how, dry_run: true }, signal })).data,
    staleTime: 0,
  });
}
