import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import {
  policiesAssign,
  policiesCopy,
  policiesCreate,
  policiesDryRun,
  policiesList,
  policiesOver,
  policiesRemove,
  policiesShow,
  policiesUpdate,
} from "@/api/generated/sdk.gen";
import type { PoliciesListData } from "@/api/generated/types.gen";
import type {
  DryRunEnding,
  DryRunRequest,
  Policy,
  PolicyAssign,
  PolicyCreate,
  PolicyKind,
  PolicyUpdate,
} from "@/api/types";
import { everyPage } from "./every-page";
import { useChange } from "./use-change";

export type PolicyFilter = Pick<NonNullable<PoliciesListData["query"]>, "q" | "kind" | "sort">;

/** Resource policies, paginated, in server order. */
export function policiesListQuery(filter: PolicyFilter) {
  return infiniteQueryOptions({
    queryKey: ["policies", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await policiesList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** All policies that match the filter. */
export const everyPolicy = (filter: PolicyFilter) =>
  everyPage((cursor) => policiesList({ query: { ...filter, limit: 200, cursor } }));

/** Policies of one kind for select inputs. */
export function policiesChoiceQuery(kind: PolicyKind) {
  return queryOptions({
    queryKey: ["policies", "choice", kind] as const,
    queryFn: () => everyPolicy({ kind, sort: "name" }),
  });
}

/** One resource policy, by id. */
export function policiesShowQuery(id: string) {
  return queryOptions({
    queryKey: ["policies", "show", id] as const,
    queryFn: async ({ signal }) => (await policiesShow({ path: { ref: id }, signal })).data,
  });
}

const TOUCHED = ["policies", "over", "check"];

export const useCreatePolicy = () =>
  useChange<PolicyCreate, Policy>(async (body) => (await policiesCreate({ body })).data, TOUCHED);

/** Updates the given fields of a policy. */
export const useUpdatePolicy = () =>
  useChange<{ id: string } & PolicyUpdate, Policy>(
    async ({ id, ...body }) => (await policiesUpdate({ path: { ref: id }, body })).data,
    [...TOUCHED, "users", "keypairs", "projects"],
  );

export const useCopyPolicy = () =>
  useChange<{ id: string; name: string }, Policy>(
    async ({ id, name }) => (await policiesCopy({ path: { ref: id }, body: { name } })).data,
    TOUCHED,
  );

export const useRemovePolicy = () =>
  useChange<string, unknown>(async (id) => (await policiesRemove({ path: { ref: id } })).data, TOUCHED);

/** Assigns a policy to keypairs, users or projects. */
export const useAssignPolicy = () =>
  useChange<{ id: string } & PolicyAssign, Policy>(
    async ({ id, ...body }) => (await policiesAssign({ path: { ref: id }, body })).data,
    [...TOUCHED, "users", "keypairs", "projects"],
  );

/** The holders of the policy that would exceed these limits now. */
/** Idle rules to try on past sessions. */
export type DryRunRules = Pick<DryRunRequest, "policy" | "idle_timeout_s" | "idle_use">;

/** So far: the sessions that the rules would have ended, of those that were checked. */
export interface DryRunSoFar {
  endings: readonly DryRunEnding[];
  checked: number;
  total: number;
}

/** Tries idle rules on the sessions of the last month, page by page. */
export async function dryRun(
  rules: DryRunRules,
  onProgress: (soFar: DryRunSoFar) => void,
  signal: AbortSignal,
): Promise<DryRunSoFar> {
  const endings: DryRunEnding[] = [];
  let cursor: string | null = null;
  for (;;) {
    const body: DryRunRequest = { ...rules, cursor };
    const { data: page } = await policiesDryRun({ body, signal });
    endings.push(...page.items);
    const soFar = { endings: [...endings], checked: page.checked, total: page.total };
    cursor = page.next_cursor;
    if (cursor === null) return soFar;
    onProgress(soFar);
  }
}

export function policiesOverQuery(id: string, limits: NonNullable<PolicyUpdate["limits"]>) {
  return queryOptions({
    queryKey: ["over", "policy", id, limits] as const,
    queryFn: async ({ signal }) =>
      (await policiesOver({ path: { ref: id }, body: { limits }, signal })).data.items,
  });
}
