import { nodesDrain, nodesForget, nodesUpdate } from "@/api/generated/sdk.gen";
import type { Drain, Draining, Forgotten, NodeDetail, NodeUpdate } from "@/api/types";
import { useChange } from "./use-change";

const TOUCHED = ["nodes", "groups", "resources"];

/** Changes what is given of a node. */
export const useUpdateNode = () =>
  useChange<{ id: string } & NodeUpdate, NodeDetail>(
    async ({ id, ...body }) => (await nodesUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

/** Begins to empty a node. */
export const useDrainNode = () =>
  useChange<{ id: string; how: Draining }, Drain>(
    async ({ id, how }) => (await nodesDrain({ path: { ref: id }, body: { how } })).data,
    TOUCHED,
  );

/** Gives up a node that is gone, by its name. */
export const useForgetNode = () =>
  useChange<string, Forgotten>(
    async (name) => (await nodesForget({ path: { ref: name }, body: { confirm: name } })).data,
    TOUCHED,
  );
