import { queryOptions } from "@tanstack/react-query";
import { projectsOver } from "@/api/generated/sdk.gen";
import type { Slots } from "@/api/types";

/** Where a project would be over its ceilings now, were they these. */
export function projectsOverQuery(id: string, ceilings: Slots) {
  return queryOptions({
    queryKey: ["over", "project", id, ceilings] as const,
    queryFn: async ({ signal }) =>
      (await projectsOver({ path: { ref: id }, body: { ceilings }, signal })).data.items,
  });
}
