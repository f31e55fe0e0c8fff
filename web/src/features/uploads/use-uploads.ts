import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import type { Me } from "@/api/types";
import { refreshFilesSoon } from "@/live/refresh";
import { type Batch, batchesOf } from "./batches";
import { uploads } from "./queue";
import { isOpen, type UploadItem } from "./tasks";

export const useUploadItems = (): readonly UploadItem[] =>
  useSyncExternalStore(uploads.subscribe, uploads.read);

/** The uploads by batch. */
export function useBatches(): Batch[] {
  const items = useUploadItems();
  return useMemo(() => batchesOf(items), [items]);
}

/** Keeps uploads running while the caller is mounted, and asks before the page is closed during an upload. */
export function useUploading(me: Me): void {
  const client = useQueryClient();
  useEffect(() => {
    uploads.begin(me.user.id);
    uploads.onArrived = (folder) => refreshFilesSoon(client, folder);
    const onLeave = (event: BeforeUnloadEvent) => {
      if (uploads.read().some(isOpen)) event.preventDefault();
    };
    addEventListener("beforeunload", onLeave);
    return () => removeEventListener("beforeunload", onLeave);
  }, [client, me.user.id]);
}
