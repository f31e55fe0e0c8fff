import { isOpen, type UploadItem } from "./tasks";

/** The uploads that were added together. */
export interface Batch {
  key: number;
  folder: UploadItem["folder"];
  items: UploadItem[];
  /** Number of completed uploads. */
  done: number;
  sentBytes: number;
  totalBytes: number;
  state: "open" | "paused" | "lost" | "failed" | "over";
  /** Uploads that need the user's attention. */
  troubles: UploadItem[];
}

/** The uploads by batch, newest first. */
export function batchesOf(items: readonly UploadItem[]): Batch[] {
  return [...grouped(items)].map(([key, members]) => batchOf(key, members)).reverse();
}

function grouped(items: readonly UploadItem[]): Map<number, UploadItem[]> {
  const groups = new Map<number, UploadItem[]>();
  for (const item of items) {
    const group = groups.get(item.batch);
    if (group) group.push(item);
    else groups.set(item.batch, [item]);
  }
  return groups;
}

function batchOf(key: number, items: UploadItem[]): Batch {
  const included = items.filter(({ state }) => state !== "skipped");
  return {
    key,
    folder: items[0]?.folder ?? { id: "", name: "" },
    items,
    done: items.filter(({ state }) => state === "done").length,
    sentBytes: included.reduce((sum, one) => sum + one.sent, 0),
    totalBytes: included.reduce((sum, one) => sum + one.size, 0),
    state: stateOf(items),
    troubles: items.filter(
      ({ state, problem }) => state === "failed" || state === "lost" || (state === "waiting" && problem),
    ),
  };
}

function stateOf(items: UploadItem[]): Batch["state"] {
  const open = items.filter(isOpen);
  if (open.length > 0) return open.every(({ state }) => state === "paused") ? "paused" : "open";
  if (items.some(({ state }) => state === "lost")) return "lost";
  return items.some(({ state }) => state === "failed") ? "failed" : "over";
}
