import { filesShow } from "@/api/generated";
import { Problem, toProblem } from "@/api/problem";
import { sendForm } from "./form";
import type { Clash } from "./transfer";

/** Files up to this travel together. */
export const PACKED = 256 * 2 ** 10;
const MOST_FILES = 200;
/** With what stands before each file: the server takes no larger form. */
const MOST_BYTES = 2 ** 20;
const OVERHEAD_BYTES = 512;
/** A path stands in the list of all, its last name before the file as well; in UTF-8. */
const BYTES_OF_A_LETTER = 6;
/** How far two spellings of the same time may differ. */
const SAME_TIME_MS = 1;

/** A file and where it goes, relative to the folder. */
export interface PackedFile {
  path: string;
  file: File;
}

/** Takes files as long as they fit into one request; says whether one did. */
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
 * Sends files in one request. What became of each: null when it is there, or why it is not; of what has no outcome
 * nothing is known. Throws the problem that all of them have.
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
    // A browser says of a file that it could not read, and of a line that broke, the same.
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
  // By their number, because what clashed may have got another name.
  const complete = done.paths.length + done.refused.length >= files.length;
  const there = new Set(done.paths);
  const reported = files.filter(({ path }) => complete || refused.has(path) || there.has(path));
  return new Map(reported.map(({ path }) => [path, refused.get(path) ?? null]));
}

/** Those of which a browser gives the first byte. */
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

/** Whether this very file is there, as far as size and time tell. */
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
