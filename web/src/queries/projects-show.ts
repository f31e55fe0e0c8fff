import { queryOptions } from "@tanstack/react-query";
import { projectsShow } from "@/api/generated/sdk.gen";

/** One project, by id. */
export function projectsShowQuery(id: string) {
  return queryOptions({
    queryKey: ["projects", "show", id] as const,
    queryFn: async ({ signal }) => (await projectsShow({ path: { ref: id }, signal })).data,
  });
}
