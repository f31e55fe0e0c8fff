import { queryOptions } from "@tanstack/react-query";
import { imagesList } from "@/api/generated/sdk.gen";

/** The images to choose from: all that are not of a registry, and the first ones of those. */
export const imagesListQuery = queryOptions({
  queryKey: ["images", "list"] as const,
  queryFn: async ({ signal }) => {
    const [own, scanned] = await Promise.all([
      imagesList({ query: { scanned: false, limit: 200 }, signal }),
      imagesList({ query: { scanned: true, limit: 200 }, signal }),
    ]);
    return [...own.data.items, ...scanned.data.items];
  },
});
