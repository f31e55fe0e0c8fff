import { queryOptions } from "@tanstack/react-query";
import { imagesList } from "@/api/generated/sdk.gen";

/** The images of the catalogue. */
export const imagesListQuery = queryOptions({
  queryKey: ["images", "list"] as const,
  queryFn: async ({ signal }) => (await imagesList({ signal })).data.items,
});
