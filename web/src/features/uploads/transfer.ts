import { DetailedError, Upload } from "tus-js-client";
import { csrfHeader, renewCsrfToken } from "@/api/client";
import { type Problem, toProblem } from "@/api/problem";
import type { Clash } from "@/api/types";

const MIB = 2 ** 20;
/** Maximum body size: a proxy may limit it, and a pause loses nothing that was stored. */
const CHUNK = 64 * MIB;
/**
 * Files up to this size are sent with the creation request; with larger ones, a lost connection would cost
 * too much.
 */
export const SMALL = 4 * MIB;
const PAUSES_MS = [200, 1000, 3000, 5000, 10_000, 20_000];

export interface UploadOptions {
  folder: string;
  /** Target path, relative to the folder. */
  path: string;
  clash: Clash;
  /** URL of the upload, if it exists already. */
  url: string | null;
  onUrl: (url: string) => void;
  onProgress: (sent: number) => void;
  onDone: () => void;
  onProblem: (problem: Problem) => void;
}

/**
 * Uploads a file by tus, resuming after interruptions. Begins when `start` is called.
 *
 * An existing upload is only resumed: the problem is 404 if it is gone.
 */
export function transferOf(file: File, options: UploadOptions): Upload {
  const upload = new Upload(file, {
    // Absolute, since the server's response is relative to it. Absent for an existing upload: otherwise the
    // tus client would create a new one on any error of the offset request.
    endpoint: options.url
      ? null
      : `${location.origin}/api/v1/vfolders/${encodeURIComponent(options.folder)}/uploads`,
    uploadUrl: options.url,
    // The time lets the server recognize a file that was complete when the server was killed.
    metadata: { path: options.path, clash: options.clash, modified: secondsOf(file) },
    chunkSize: CHUNK,
    uploadDataDuringCreation: file.size <= SMALL,
    retryDelays: PAUSES_MS,
    // `remembered.ts` stores what a reload needs, with the folder.
    storeFingerprintForResuming: false,
    onBeforeRequest: (request) => {
      const header = csrfHeader();
      if (header) request.setHeader(...header);
      // The conflict choice for a complete upload that was created with another one.
      if (options.url && options.clash !== "refuse") request.setHeader("Carrel-Clash", options.clash);
    },
    onShouldRetry: mayTryAgain,
    onUploadUrlAvailable: () => {
      upload.options.endpoint = null;
      if (upload.url) options.onUrl(upload.url);
    },
    onProgress: (sent) => options.onProgress(sent),
    onSuccess: options.onDone,
    onError: (error) => {
      const problem = problemOf(error);
      // Another tab has renewed the CSRF token: fetch it, and retry once.
      if (problem.code !== "auth.csrf") return options.onProblem(problem);
      void renewCsrfToken().then((renewed) => (renewed ? upload.start() : options.onProblem(problem)));
    },
  });
  return upload;
}

/** Modification time in Unix seconds. */
function secondsOf(file: File): string {
  return (Math.max(file.lastModified, 0) / 1000).toFixed(3);
}

/** Deletes an upload on the server. A missing one is success. */
export async function terminate(url: string): Promise<void> {
  const header = csrfHeader();
  const headers = { "Tus-Resumable": "1.0.0", ...(header ? Object.fromEntries([header]) : {}) };
  await fetch(url, { method: "DELETE", headers }).catch(() => undefined);
}

const LOCKED = 423;

/** Lost connections and busy or restarting servers are retried; other errors are not. */
function mayTryAgain(error: Error): boolean {
  const { status, code } = problemOf(error);
  return (
    status === 0 ||
    status === LOCKED ||
    (status >= 500 && code !== "storage.full") ||
    code === "upload.offset"
  );
}

/** The server's problem in an error of the tus client. */
export function problemOf(error: Error): Problem {
  const answer = error instanceof DetailedError ? error.originalResponse : null;
  const status = answer?.getStatus() ?? 0;
  // A response that is neither an error nor valid counts as none: a proxy may have sent it.
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
