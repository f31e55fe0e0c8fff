import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import {
  imagesFamilies,
  imagesList,
  imagesShow,
  imagesUpdate,
  imageUpdatesCheck,
  imageUpdatesSkip,
  imageUpdatesTake,
} from "@/api/generated/sdk.gen";
import type { ImagesListData } from "@/api/generated/types.gen";
import type { ImageDetail, ImageUpdate } from "@/api/types";
import { everyPage } from "./every-page";
import { useChange } from "./use-change";

export type ImageFilter = Pick<
  NonNullable<ImagesListData["query"]>,
  "q" | "sort" | "family" | "registry" | "state"
>;

/** The images with a name of their own, which are few; those of registries are searched. */
export const imagesListQuery = queryOptions({
  queryKey: ["images", "list"] as const,
  queryFn: async ({ signal }) =>
    (await imagesList({ query: { scanned: false, offered: true, limit: 200 }, signal })).data.items,
});

/** The first families with an image whose name or title has this part, each with its default version. */
export const imageFamiliesQuery = (q: string) =>
  queryOptions({
    queryKey: ["images", "families", q] as const,
    queryFn: async ({ signal }) =>
      (await imagesFamilies({ query: { q: q || undefined, limit: 50 }, signal })).data.items,
    placeholderData: keepPreviousData,
  });

/** The versions of a family that the user is offered, the newest first. */
export const imageVersionsQuery = (family: string) =>
  queryOptions({
    queryKey: ["images", "versions", family] as const,
    queryFn: async ({ signal }) =>
      (await imagesList({ query: { family, offered: true, sort: "-version", limit: 200 }, signal })).data
        .items,
  });

/** The image of the catalogue that a request means by this name; null: none. */
export const imageNamedQuery = (name: string) =>
  queryOptions({
    queryKey: ["images", "named", name] as const,
    queryFn: async ({ signal }) => (await imagesList({ query: { name }, signal })).data.items[0] ?? null,
  });

/** Images of the catalogue, paginated, in server order. */
export function imagesPagesQuery(filter: ImageFilter) {
  return infiniteQueryOptions({
    queryKey: ["images", "pages", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await imagesList({ query: { ...filter, limit: 50, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

export const everyImage = (filter: ImageFilter) =>
  everyPage((cursor) => imagesList({ query: { ...filter, limit: 200, cursor } }));

/** One image, by id. */
export function imagesShowQuery(id: string) {
  return queryOptions({
    queryKey: ["images", "show", id] as const,
    queryFn: async ({ signal }) => (await imagesShow({ path: { ref: id }, signal })).data,
  });
}

/** Updates the given settings of an image. */
export const useUpdateImage = () =>
  useChange<{ id: string } & ImageUpdate, ImageDetail>(
    async ({ id, ...body }) => (await imagesUpdate({ path: { ref: id }, body })).data,
    ["images"],
  );

/** Takes or skips the update of an image that has this digest. */
export const useDecideUpdate = () =>
  useChange<{ image: string; digest: string; take: boolean }, ImageDetail>(
    async ({ take, ...body }) =>
      (await (take ? imageUpdatesTake({ body }) : imageUpdatesSkip({ body }))).data,
    ["images"],
  );

/** Checks one image for updates. */
export const useCheckUpdate = () =>
  useChange<string, unknown>(
    async (image) => (await imageUpdatesCheck({ body: { image } })).data,
    ["images"],
  );
