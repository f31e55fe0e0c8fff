import { csrfHeader, renewCsrfToken } from "@/api/client";
import type { FilesDone } from "@/api/generated/types.gen";
import { toProblem } from "@/api/problem";
import type { Clash } from "@/api/types";

/** A file and its target path, relative to the folder. */
export interface PackedFile {
  path: string;
  file: File;
}

/**
 * Sends files as one multipart form. The page does not read them into memory: a browser streams the files of
 * a form from disk, but only with XMLHttpRequest. Throws a Problem, or an AbortError.
 */
export async function sendForm(
  folder: string,
  clash: Clash,
  files: readonly PackedFile[],
  signal: AbortSignal,
): Promise<FilesDone> {
  const url = `/api/v1/vfolders/${encodeURIComponent(folder)}/files/unpack?clash=${clash}`;
  const form = packForm(files);
  const answer = await posted(url, form, signal);
  if (answer.ok) return answer.json();
  const problem = toProblem(await answer.json().catch(() => ({})), answer);
  // Another tab has renewed the CSRF token: fetch it, and retry once.
  if (problem.code !== "auth.csrf" || !(await renewCsrfToken())) throw problem;
  const second = await posted(url, form, signal);
  if (second.ok) return second.json();
  throw toProblem(await second.json().catch(() => ({})), second);
}

/** The metadata, then the files in the same order. */
export function packForm(files: readonly PackedFile[]): FormData {
  const form = new FormData();
  const about = files.map(({ path, file }) => ({ path, modified: Math.max(file.lastModified, 0) / 1000 }));
  form.append("files", JSON.stringify(about));
  for (const { file } of files) form.append("file", file);
  return form;
}

function posted(url: string, form: FormData, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const ended = () => reject(new DOMException("The request was ended.", "AbortError"));
    if (signal.aborted) return ended();
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.open("POST", url);
    const header = csrfHeader();
    if (header) request.setRequestHeader(...header);
    request.onload = () => resolve(new Response(request.responseText, { status: request.status }));
    request.onerror = () => reject(toProblem(new Error("No server answered.")));
    request.onabort = ended;
    request.send(form);
  });
}
