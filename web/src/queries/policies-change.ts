import {
  policiesAssign,
  policiesCopy,
  policiesCreate,
  policiesRemove,
  policiesUpdate,
} from "@/api/generated/sdk.gen";
import type { Policy, PolicyAssign, PolicyCreate, PolicyUpdate } from "@/api/types";
import { useChange } from "./use-change";

const TOUCHED = ["policies", "over", "check"];

export const useCreatePolicy = () =>
  useChange<PolicyCreate, Policy>(async (body) => (await policiesCreate({ body })).data, TOUCHED);

/** Changes what is given of a policy. */
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

/** Gives a policy to keypairs, people or projects. */
export const useAssignPolicy = () =>
  useChange<{ id: string } & PolicyAssign, Policy>(
    async ({ id, ...body }) => (await policiesAssign({ path: { ref: id }, body })).data,
    [...TOUCHED, "users", "keypairs", "projects"],
  );
