import { queryOptions } from "@tanstack/react-query";
import { importsPreview } from "@/api/generated/sdk.gen";
import type { ImportPreview } from "@/api/generated/types.gen";
import type { SessionCreate } from "@/api/types";
import type { ImportLink } from "@/routing/import-link";

export type Preview = Omit<ImportPreview, "session"> & { session: SessionCreate };

/** What an import would do. Kept, so that the launcher begins with the request that was shown. */
export function importsPreviewQuery({ url = "", ...others }: ImportLink) {
  const body = { url, ...others };
  return queryOptions({
    queryKey: ["imports", "preview", JSON.stringify(body)] as const,
    queryFn: async ({ signal }) => (await importsPreview({ body, signal })).data as Preview,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
