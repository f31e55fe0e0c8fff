import { DetailedError, Upload } from "tus-js-client";
import { csrfHeader, renewCsrfToken } from "@/api/client";
import { type Problem, toProblem } from "@/api/problem";

const MIB = 2 ** 20;
/** One request each: a proxy may not let more pass at once, and a pause loses nothing of what arrived. */
const CHUNK = 64 * MIB;
/** A file up to here goes with the request that begins its upload; of more, a cut line would lose too much. */
export const SMALL = 4 * MIB;
const PAUSES_MS = [200, 1000, 3000, 5000, 10_000, 20_000];

export type Clash = "refuse" | "replace" | "rename";

export interface Wish {
  folder: string;
  /** Where the file goes, relative to the folder. */
  path: string;
  clash: Clash;
  /** The address of the upload, when it was begun already. */
  url: string | null;
  onUrl: (url: string) => void;
  onProgress: (sent: number) => void;
  onDone: () => void;
  onProblem: (problem: Problem) => void;
}

/**
 * Sends a file by tus; it goes on by itself when the line breaks. Begins when `start` is called.
 *
 * One that was begun is only gone on with: the problem is 404 when nothing of it is there any more.
 */
export function transferOf(file: File, wish: Wish): Upload {
  const upload = new Upload(file, {
    // Whole, since the server's answer is relative to it. None for one that is begun: whatever the server said when it
    // was asked how much has arrived, the tus client would begin it anew.
    endpoint: wish.url
      ? null
      : `${location.origin}/api/v1/vfolders/${encodeURIComponent(wish.folder)}/uploads`,
    uploadUrl: wish.url,
    // By its time the server knows the file again that was done when it was killed.
    metadata: { path: wish.path, clash: wish.clash, modified: secondsOf(file) },
    chunkSize: CHUNK,
    uploadDataDuringCreation: file.size <= SMALL,
    retryDelays: PAUSES_MS,
    // What a reload needs is remembered by `remembered.ts`, with the folder that it belongs to.
    storeFingerprintForResuming: false,
    onBeforeRequest: (request) => {
      const header = csrfHeader();
      if (header) request.setHeader(...header);
      // What was answered after all of it had arrived, to an upload that began with another wish.
      if (wish.url && wish.clash !== "refuse") request.setHeader("Carrel-Clash", wish.clash);
    },
    onShouldRetry: mayTryAgain,
    onUploadUrlAvailable: () => {
      upload.options.endpoint = null;
      if (upload.url) wish.onUrl(upload.url);
    },
    onProgress: (sent) => wish.onProgress(sent),
    onSuccess: wish.onDone,
    onError: (error) => {
      const problem = problemOf(error);
      // Another tab has got a new token: this one fetches it, and goes on once.
      if (problem.code !== "auth.csrf") return wish.onProblem(problem);
      void renewCsrfToken().then((renewed) => (renewed ? upload.start() : wish.onProblem(problem)));
    },
  });
  return upload;
}

/** When the file was last changed, in seconds since 1970. */
function secondsOf(file: File): string {
  return (Math.max(file.lastModified, 0) / 1000).toFixed(3);
}

/** Gives an upload up at the server. One that is gone already is as good. */
export async function giveUp(url: string): Promise<void> {
  const header = csrfHeader();
  const headers = { "Tus-Resumable": "1.0.0", ...(header ? Object.fromEntries([header]) : {}) };
  await fetch(url, { method: "DELETE", headers }).catch(() => undefined);
}

const LOCKED = 423;

/** A line that broke, and a server that is busy or restarts, are tried again; an answer of "no" is not. */
function mayTryAgain(error: Error): boolean {
  const { status, code } = problemOf(error);
  return (
    status === 0 ||
    status === LOCKED ||
    (status >= 500 && code !== "storage.full") ||
    code === "upload.offset"
  );
}

/** What the server said, out of the error of the tus client. */
export function problemOf(error: Error): Problem {
  const answer = error instanceof DetailedError ? error.originalResponse : null;
  const status = answer?.getStatus() ?? 0;
  // An answer that is no "no" and makes no sense is like none: a proxy may have given it.
  if (!answer || status < 400) return toProblem(error);
  const pause = Number(answer.getHeader("Retry-After")) || undefined;
  const body = { details: { retry_after_s: pause }, ...parsed(answer.getBody()) };
  return toProblem(body, new Response(null, { status }));
}

function parsed(text: string): object {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
