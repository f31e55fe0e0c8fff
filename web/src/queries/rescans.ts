import { queryOptions } from "@tanstack/react-query";
import { rescansCancel, rescansCreate, rescansList } from "@/api/generated/sdk.gen";
import type { Rescan } from "@/api/types";
import { useChange } from "./use-change";

/** The latest scan of all registries and that of all images. */
export const rescansQuery = queryOptions({
  queryKey: ["rescans"] as const,
  queryFn: async ({ signal }) => (await rescansList({ signal })).data.items,
});

const TOUCHED = ["rescans", "image-scans", "registry-scans"];

export const useRescan = () =>
  useChange<Rescan["kind"], Rescan>(async (kind) => (await rescansCreate({ body: { kind } })).data, TOUCHED);

export const useCancelRescan = () =>
  useChange<Rescan["kind"], Rescan>(async (kind) => (await rescansCancel({ path: { kind } })).data, TOUCHED);
