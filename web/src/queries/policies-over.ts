import { queryOptions } from "@tanstack/react-query";
import { policiesOver } from "@/api/generated/sdk.gen";
import type { PolicyUpdate } from "@/api/types";

/** Who of those that have the policy would be over it now, were its limits these. */
export function policiesOverQuery(id: string, limits: NonNullable<PolicyUpdate["limits"]>) {
  return queryOptions({
    queryKey: ["over", "policy", id, limits] as const,
    queryFn: async ({ signal }) =>
      (await policiesOver({ path: { ref: id }, body: { limits }, signal })).data.items,
  });
}
