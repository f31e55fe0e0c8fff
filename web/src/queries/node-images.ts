import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import {
  imagePullsCancel,
  imagePullsCreate,
  imagePullsList,
  imagesPrune,
  nodesImages,
} from "@/api/generated/sdk.gen";
import type { ImagePruneRequest, ImagePullCreate } from "@/api/generated/types.gen";
import type { ImagePruneView, ImagePull } from "@/api/types";
import { useChange } from "./use-change";

/** The images on a node, the largest first. */
export function nodeImagesQuery(node: string, q: string) {
  return infiniteQueryOptions({
    queryKey: ["node-images", node, q] as const,
    queryFn: async ({ pageParam, signal }) =>
      (
        await nodesImages({
          path: { ref: node },
          query: { q: q || undefined, limit: 50, cursor: pageParam },
          signal,
        })
      ).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** The latest pulls of images to nodes. */
export const imagePullsQuery = queryOptions({
  queryKey: ["image-pulls"] as const,
  queryFn: async ({ signal }) => (await imagePullsList({ query: { limit: 10 }, signal })).data.items,
});

/** What a clean-up would remove. Changes nothing. */
export function prunePreviewQuery(days: number, registered: boolean) {
  return queryOptions({
    queryKey: ["node-images", "prune", days, registered] as const,
    queryFn: async ({ signal }) =>
      (await imagesPrune({ body: { older_than_days: days, registered, dry_run: true }, signal })).data,
    staleTime: 0,
    placeholderData: keepPreviousData,
  });
}

const TOUCHED = ["image-pulls", "node-images"];

export const usePullImage = () =>
  useChange<ImagePullCreate, ImagePull>(async (body) => (await imagePullsCreate({ body })).data, TOUCHED);

export const useCancelPull = () =>
  useChange<string, ImagePull>(async (pull) => (await imagePullsCancel({ path: { pull } })).data, TOUCHED);

export const usePruneImages = () =>
  useChange<ImagePruneRequest, ImagePruneView>(async (body) => (await imagesPrune({ body })).data, TOUCHED);
