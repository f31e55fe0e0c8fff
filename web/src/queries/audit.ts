import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { auditList, auditVerify } from "@/api/generated/sdk.gen";
import type { AuditListData } from "@/api/generated/types.gen";
import type { AuditCheck } from "@/api/types";

export type AuditFilter = Omit<NonNullable<AuditListData["query"]>, "limit" | "cursor">;

/** Audit entries, newest first, paginated. */
export function auditListQuery(filter: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ["audit", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await auditList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** One entry by id; null if it does not exist or is not visible. */
export function auditShowQuery(id: string) {
  return queryOptions({
    queryKey: ["audit", "show", id] as const,
    queryFn: async ({ signal }) =>
      (await auditList({ query: { id: Number(id), limit: 1 }, signal })).data.items[0] ?? null,
  });
}

/** Verifies the whole hash chain, page by page; `onPart` receives each part with the progress. */
export async function verifyChain(
  onPart: (checked: number) => void,
  signal: AbortSignal,
): Promise<AuditCheck & { total: number }> {
  let total = 0;
  let after = 0;
  const faults: AuditCheck["faults"] = [];
  for (;;) {
    const { data } = await auditVerify({ query: { after }, signal });
    total += data.checked;
    faults.push(...data.faults);
    onPart(total);
    if (data.done) return { ...data, faults, total };
    after = data.reached;
  }
}
