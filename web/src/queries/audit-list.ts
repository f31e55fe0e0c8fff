import { infiniteQueryOptions } from "@tanstack/react-query";
import { auditList } from "@/api/generated/sdk.gen";
import type { AuditListData } from "@/api/generated/types.gen";

export type AuditFilter = Omit<NonNullable<AuditListData["query"]>, "limit" | "cursor">;

/** Who did what, newest first, page by page. */
export function auditListQuery(filter: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ["audit", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await auditList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}
