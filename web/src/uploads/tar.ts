const BLOCK = 512;
const LONGEST_NAME = 100;
const DIGITS = 11;
const [SIZE_AT, MODIFIED_AT, SUM_AT, KIND_AT] = [124, 136, 148, 156];
const TEXT = new TextEncoder();

/** A file of a tar file. modified: in milliseconds since 1970. */
export interface TarEntry {
  path: string;
  file: Blob;
  modified: number;
}

/**
 * A tar file (POSIX.1-2001, pax) of these files. The files are not read here: the browser does that when it sends the
 * blob, outside of the page's thread, and fails the request when one of them changed or cannot be read.
 */
export function tarOf(entries: readonly TarEntry[]): Blob {
  const parts: BlobPart[] = [];
  let padding = 0;
  for (const entry of entries) {
    parts.push(framing(padding, header(entry)), entry.file);
    padding = paddingOf(entry.file.size);
  }
  parts.push(new Uint8Array(padding + 2 * BLOCK));
  return new Blob(parts, { type: "application/x-tar" });
}

/** What stands between two files, as one part: a browser has work with each. */
function framing(padding: number, blocks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const made = new Uint8Array(padding + blocks.reduce((total, { length }) => total + length, 0));
  let at = padding;
  for (const block of blocks) {
    made.set(block, at);
    at += block.length;
  }
  return made;
}

function header({ path, file, modified }: TarEntry): Uint8Array[] {
  const name = TEXT.encode(path);
  const plain = name.length <= LONGEST_NAME && name.length === path.length;
  const whole = modified % 1000 === 0 && modified >= 0;
  const main = block(name, file.size, whole ? modified / 1000 : 0, "0");
  const about = TEXT.encode(
    (plain ? "" : record("path", path)) +
      (whole ? "" : record("mtime", (Math.max(modified, 0) / 1000).toFixed(3))),
  );
  if (about.length === 0) return [main];
  return [block(PAX, about.length, 0, "x"), about, new Uint8Array(paddingOf(about.length)), main];
}

/** What all headers have alike: the mode, nobody's ids, a sum that counts as spaces, the format. */
const ALIKE = (() => {
  const made = new Uint8Array(BLOCK);
  const write = (text: string, at: number) => made.set(TEXT.encode(text), at);
  write(`0000644\0${"0000000\0".repeat(2)}`, LONGEST_NAME);
  write("        ", SUM_AT);
  write("ustar\x0000", 257);
  write("0000000\0".repeat(2), 329);
  return made;
})();
const PAX = TEXT.encode("pax");

function block(name: Uint8Array, size: number, seconds: number, kind: "0" | "x"): Uint8Array {
  const made = ALIKE.slice();
  made.set(name.length > LONGEST_NAME ? name.subarray(0, LONGEST_NAME) : name);
  writeOctal(made, SIZE_AT, size, DIGITS);
  writeOctal(made, MODIFIED_AT, seconds, DIGITS);
  made[KIND_AT] = kind.charCodeAt(0);
  // A plain loop: with a call for each byte the sums take longer than all else about a small file.
  let sum = 0;
  for (let at = 0; at < BLOCK; at += 1) sum += made[at] as number;
  writeOctal(made, SUM_AT, sum, 6);
  made[SUM_AT + 6] = 0;
  return made;
}

function writeOctal(made: Uint8Array, start: number, value: number, digits: number): void {
  let left = value;
  for (let at = start + digits - 1; at >= start; at -= 1) {
    made[at] = 48 + (left % 8);
    left = Math.floor(left / 8);
  }
}

/** A length that counts itself, the key and the value. */
function record(key: string, value: string): string {
  const rest = TEXT.encode(` ${key}=${value}\n`).length;
  let length = rest + String(rest).length;
  if (String(length).length !== String(rest).length) length += 1;
  return `${length} ${key}=${value}\n`;
}

const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;
