import { queryOptions } from "@tanstack/react-query";
import {
  acceleratorChecksCancel,
  acceleratorChecksCreate,
  acceleratorChecksList,
  nodesPutBack,
} from "@/api/generated/sdk.gen";
import type { AcceleratorCheck } from "@/api/types";
import { useChange } from "./use-change";

/** The latest checks of the accelerators of a node. */
export function acceleratorChecksQuery(node: string) {
  return queryOptions({
    queryKey: ["accelerator-checks", node] as const,
    queryFn: async ({ signal }) =>
      (await acceleratorChecksList({ query: { node, limit: 5 }, signal })).data.items,
  });
}

const TOUCHED = ["accelerator-checks", "nodes"];

export const useCheckAccelerators = () =>
  useChange<string, AcceleratorCheck>(
    async (node) => (await acceleratorChecksCreate({ body: { node } })).data,
    TOUCHED,
  );

export const useCancelAcceleratorCheck = () =>
  useChange<string, AcceleratorCheck>(
    async (check) => (await acceleratorChecksCancel({ path: { check } })).data,
    TOUCHED,
  );

export const usePutBack = () =>
  useChange<{ node: string; device: string }, unknown>(
    async ({ node, device }) => (await nodesPutBack({ path: { ref: node }, body: { device } })).data,
    TOUCHED,
  );
