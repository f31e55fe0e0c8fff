/** The state of a file upload, and which actions it allows. */
import type { Upload } from "tus-js-client";
import type { Problem } from "@/api/problem";
import type { Clash } from "@/api/types";
import { PACKED } from "./packs";
import type { Begun } from "./remembered";

/**
 * waiting: in the queue; with a problem, until the server accepts more. asking: the name exists already.
 * lost: from before the page load; the file must be selected again.
 */
export type UploadState =
  | "waiting"
  | "sending"
  | "paused"
  | "asking"
  | "lost"
  | "done"
  | "skipped"
  | "failed";

export interface UploadItem {
  key: number;
  batch: number;
  folder: { id: string; name: string };
  /** Target path, relative to the folder. */
  path: string;
  size: number;
  sent: number;
  state: UploadState;
  problem: Problem | null;
}

/** A file to upload; path: target path, relative to the folder. */
export interface UploadSource {
  path: string;
  file: File;
}

/** How to resolve a name conflict. */
export type Choice = Exclude<Clash, "refuse"> | "skip";

export interface Task extends UploadItem {
  file: File | null;
  clash: Clash;
  /** URL of the upload, once it is created. */
  url: string | null;
  transfer: Upload | null;
  /** Aborts the pack request that contains it. */
  pack: AbortController | null;
  /** Send it separately, since a pack with it failed. */
  alone: boolean;
  /** The response of its pack was lost: it may have been stored. */
  responseLost: boolean;
  /** Number of attempts. */
  turn: number;
}

export const TOO_MANY = 429;
export const TAKEN = "file.exists";
const USUAL_REST_S = 10;
/** Signed out; in use by another request; rate-limited. */
const NOT_NOW: readonly number[] = [401, 423, TOO_MANY];
export const NOT_BEGUN = { transfer: null, pack: null, alone: false, responseLost: false, turn: 0 };
export const OPEN: readonly UploadState[] = ["waiting", "sending", "paused", "asking"];

export const isOpen = ({ state }: UploadItem): boolean => OPEN.includes(state);

/** Seconds to wait after a rate limit. */
export const restOf = ({ details }: Problem): number => Number(details.retry_after_s) || USUAL_REST_S;

/** Whether it can be part of a pack: it is small and not started. */
export const canPack = (task: Task): task is Task & { file: File } =>
  task.state === "waiting" &&
  !!task.file &&
  !task.url &&
  !task.transfer &&
  !task.alone &&
  task.size <= PACKED;

/**
 * Whether the stored part can be resumed: the error concerns neither the upload itself nor its name, about
 * which the user is asked.
 */
export const canGoOn = ({ status, code }: Problem): boolean =>
  status === 0 || status >= 500 || NOT_NOW.includes(status) || code === TAKEN;

export const begunOf = (task: Task, file: File): Begun => ({
  folder: task.folder,
  path: task.path,
  name: file.name,
  size: file.size,
  modified: file.lastModified,
});

export const lostTask = (key: number, batch: number, url: string, begun: Begun): Task => ({
  key,
  batch,
  folder: begun.folder,
  path: begun.path,
  size: begun.size,
  sent: 0,
  state: "lost",
  problem: null,
  file: null,
  clash: "refuse",
  url,
  ...NOT_BEGUN,
});
