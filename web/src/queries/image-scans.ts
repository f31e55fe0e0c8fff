import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import {
  imageScansCancel,
  imageScansCreate,
  imageScansEndExemption,
  imageScansExempt,
  imageScansList,
  imageScansVulnerabilities,
} from "@/api/generated/sdk.gen";
import type { ImageScansVulnerabilitiesData } from "@/api/generated/types.gen";
import type { ImageScan } from "@/api/types";
import { useChange } from "./use-change";

/** The scans of these images, which are names or references; those that were not scanned are left out. */
export function imageScansQuery(images: readonly string[]) {
  return queryOptions({
    queryKey: ["image-scans", images] as const,
    queryFn: async ({ signal }) =>
      (await imageScansList({ query: { image: [...images], limit: 200 }, signal })).data.items,
    enabled: images.length > 0,
  });
}

export type VulnerabilityFilter = Pick<
  NonNullable<ImageScansVulnerabilitiesData["query"]>,
  "severity" | "fixable"
>;

/** The vulnerabilities in an image, the most severe first; anew after each scan. */
export function vulnerabilitiesQuery({ id, scanned_at }: ImageScan, filter: VulnerabilityFilter) {
  return infiniteQueryOptions({
    queryKey: ["image-vulnerabilities", id, scanned_at, filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (
        await imageScansVulnerabilities({
          path: { id },
          query: { ...filter, limit: 20, cursor: pageParam },
          signal,
        })
      ).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

const TOUCHED = ["image-scans", "check"];

export const useScanImage = () =>
  useChange<string, ImageScan>(async (image) => (await imageScansCreate({ body: { image } })).data, TOUCHED);

export const useCancelImageScan = () =>
  useChange<string, ImageScan>(async (id) => (await imageScansCancel({ path: { id } })).data, TOUCHED);

export const useExemptImage = () =>
  useChange<{ id: string; reason: string; until: string }, ImageScan>(
    async ({ id, ...body }) => (await imageScansExempt({ path: { id }, body })).data,
    TOUCHED,
  );

export const useEndExemption = () =>
  useChange<string, ImageScan>(async (id) => (await imageScansEndExemption({ path: { id } })).data, TOUCHED);
