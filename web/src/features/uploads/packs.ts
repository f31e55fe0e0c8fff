import { filesShow } from "@/api/generated/sdk.gen";
import { Problem, toProblem } from "@/api/problem";
import type { Clash } from "@/api/types";
import { type PackedFile, sendForm } from "./form";

/** Files up to this size are sent in packs. */
export const PACKED = 256 * 2 ** 10;
const MOST_FILES = 200;
/** Including the part headers: the server accepts no larger form. */
const MOST_BYTES = 2 ** 20;
const OVERHEAD_BYTES = 512;
/** A path is in the metadata, and its file name again in the part header; in UTF-8. */
const BYTES_OF_A_LETTER = 6;
/** Maximum rounding difference between two representations of the same time. */
const SAME_TIME_MS = 1;

/** Collects files while they fit into one request; returns whether a file fits. */
export function packing(): (file: { path: string; size: number }) => boolean {
  let count = 0;
  let bytes = 0;
  return ({ path, size }) => {
    const more = size + OVERHEAD_BYTES + BYTES_OF_A_LETTER * path.length;
    if (size > PACKED || count >= MOST_FILES || bytes + more > MOST_BYTES) return false;
    count += 1;
    bytes += more;
    return true;
  };
}

/**
 * Sends files in one request. The result of each: null if it was stored, or its problem; a file without a
 * result is unknown. Throws a problem that concerns all of them.
 */
export async function sendPack(
  folder: string,
  clash: Clash,
  files: readonly PackedFile[],
  signal: AbortSignal,
): Promise<Map<string, Problem | null>> {
  try {
    return await sent(folder, clash, files, signal);
  } catch (thrown) {
    // The browser reports the same error for an unreadable file and for a lost connection.
    const problem = toProblem(thrown);
    const readable = problem.status === 0 && !signal.aborted ? await readableOf(files) : files;
    if (readable.length === files.length) throw problem;
    return readable.length > 0 ? sendPack(folder, clash, readable, signal) : new Map();
  }
}

async function sent(
  folder: string,
  clash: Clash,
  files: readonly PackedFile[],
  signal: AbortSignal,
): Promise<Map<string, Problem | null>> {
  const done = await sendForm(folder, clash, files, signal);
  const refused = new Map(done.refused.map((one) => [one.path, problemOf(one)]));
  // By index, since a conflict may have changed the name.
  const complete = done.paths.length + done.refused.length >= files.length;
  const there = new Set(done.paths);
  const reported = files.filter(({ path }) => complete || refused.has(path) || there.has(path));
  return new Map(reported.map(({ path }) => [path, refused.get(path) ?? null]));
}

/** The files whose first byte can be read. */
async function readableOf(files: readonly PackedFile[]): Promise<PackedFile[]> {
  const could = await Promise.all(
    files.map(({ file }) =>
      file
        .slice(0, 1)
        .arrayBuffer()
        .then(
          () => true,
          () => false,
        ),
    ),
  );
  return files.filter((_, index) => could[index]);
}

/** Whether the same file exists already, judged by size and time. */
export async function isThere(folder: string, { path, file }: PackedFile): Promise<boolean> {
  try {
    const { data } = await filesShow({ path: { ref: folder }, query: { path } });
    const apart = Math.abs(Date.parse(data.modified_at) - file.lastModified);
    return data.kind === "file" && data.size_bytes === file.size && apart <= SAME_TIME_MS;
  } catch {
    return false;
  }
}

const problemOf = ({ code, message }: { code: string; message: string }): Problem =>
  new Problem({ status: 409, code, detail: message });
