import {
  groupsCreate,
  groupsRemove,
  groupsSetAccess,
  groupsSetWeights,
  groupsUpdate,
} from "@/api/generated/sdk.gen";
import type { AccessUpdate, Group, GroupCreate, GroupUpdate, WeightsUpdate } from "@/api/types";
import { useChange } from "./use-change";

const TOUCHED = ["groups", "nodes", "presets", "shares"];

export const useCreateGroup = () =>
  useChange<GroupCreate, Group>(async (body) => (await groupsCreate({ body })).data, TOUCHED);

/** Changes what is given of a resource group. */
export const useUpdateGroup = () =>
  useChange<{ id: string } & GroupUpdate, Group>(
    async ({ id, ...body }) => (await groupsUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useRemoveGroup = () =>
  useChange<string, unknown>(async (id) => (await groupsRemove({ path: { ref: id } })).data, TOUCHED);

/** Says who may use a group while it is not public, in place of what was. */
export const useSetAccess = () =>
  useChange<{ id: string } & AccessUpdate, Group>(
    async ({ id, ...body }) => (await groupsSetAccess({ path: { ref: id }, body })).data,
    TOUCHED,
  );

/** Sets the weights of a group's fair share, in place of what was. */
export const useSetWeights = () =>
  useChange<{ id: string } & WeightsUpdate, Group>(
    async ({ id, ...body }) => (await groupsSetWeights({ path: { ref: id }, body })).data,
    TOUCHED,
  );
