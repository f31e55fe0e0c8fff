/** One file on its way into a folder: what is known of it, and what can be done with it next. */
import type { Upload } from "tus-js-client";
import type { Problem } from "@/api/problem";
import { PACKED } from "./packs";
import type { Begun } from "./remembered";
import type { Clash } from "./transfer";

/**
 * waiting: for its turn; with a problem, until the server takes more. asking: there is a file of that name. lost: begun before the page was loaded; the file must be
 * chosen again.
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
  /** Where the file goes, relative to the folder. */
  path: string;
  size: number;
  sent: number;
  state: UploadState;
  problem: Problem | null;
}

/** A file to send; path: where it goes, relative to the folder. */
export interface UploadSource {
  path: string;
  file: File;
}

/** What to do with a file when one of its name exists. */
export type Choice = Exclude<Clash, "refuse"> | "skip";

export interface Task extends UploadItem {
  file: File | null;
  clash: Clash;
  /** The address of the upload, once it is begun. */
  url: string | null;
  transfer: Upload | null;
  /** Ends the request in which it travels with others. */
  pack: AbortController | null;
  /** It goes by itself, since a request with others failed. */
  alone: boolean;
  /** Nobody heard what became of a request that had it: it may have arrived. */
  unheard: boolean;
  /** How often it was its turn. */
  turn: number;
}

export const TOO_MANY = 429;
export const TAKEN = "file.exists";
const USUAL_REST_S = 10;
/** Nobody is signed in any more; another request is at it; too many requests. */
const NOT_NOW: readonly number[] = [401, 423, TOO_MANY];
export const NOT_BEGUN = { transfer: null, pack: null, alone: false, unheard: false, turn: 0 };
export const OPEN: readonly UploadState[] = ["waiting", "sending", "paused", "asking"];

export const isOpen = ({ state }: UploadItem): boolean => OPEN.includes(state);

/** How many seconds after too many requests the server wants none. */
export const restOf = ({ details }: Problem): number => Number(details.retry_after_s) || USUAL_REST_S;

/** Whether it can go with others: it is small, and nothing of it was begun. */
export const canTravel = (task: Task): task is Task & { file: File } =>
  task.state === "waiting" &&
  !!task.file &&
  !task.url &&
  !task.transfer &&
  !task.alone &&
  task.size <= PACKED;

/**
 * Whether what has arrived is still there to be gone on with: this was no "no" to the upload itself, or one to its name,
 * about which its person is asked.
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
