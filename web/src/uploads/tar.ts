const BLOCK = 512;
const LONGEST_NAME = 100;
const TEXT = new TextEncoder();

/** A file of a tar file. modified: in milliseconds since 1970. */
export interface TarEntry {
  path: string;
  content: ArrayBuffer;
  modified: number;
}

/** A tar file (POSIX.1-2001, pax) of these files. */
export function tarOf(entries: readonly TarEntry[]): Blob {
  const parts: BlobPart[] = entries.flatMap((entry) => [
    header(entry),
    entry.content,
    new Uint8Array(paddingOf(entry.content.byteLength)),
  ]);
  return new Blob([...parts, new Uint8Array(2 * BLOCK)], { type: "application/x-tar" });
}

function header({ path, content, modified }: TarEntry): Uint8Array<ArrayBuffer> {
  const name = TEXT.encode(path);
  const plain = name.length <= LONGEST_NAME && name.length === path.length;
  const whole = modified % 1000 === 0 && modified >= 0;
  const records = [
    ...(plain ? [] : [record("path", path)]),
    ...(whole ? [] : [record("mtime", (Math.max(modified, 0) / 1000).toFixed(3))]),
  ];
  const main = block(name, content.byteLength, whole ? modified / 1000 : 0, "0");
  if (records.length === 0) return main;
  const about = TEXT.encode(records.join(""));
  const made = new Uint8Array(2 * BLOCK + about.length + paddingOf(about.length));
  made.set(block(TEXT.encode("pax"), about.length, 0, "x"));
  made.set(about, BLOCK);
  made.set(main, made.length - BLOCK);
  return made;
}

function block(name: Uint8Array, size: number, seconds: number, kind: "0" | "x"): Uint8Array<ArrayBuffer> {
  const made = new Uint8Array(BLOCK);
  const write = (text: string, at: number) => made.set(TEXT.encode(text), at);
  made.set(name.subarray(0, LONGEST_NAME));
  write(`0000644\0${"0000000\0".repeat(2)}${octal(size, 11)}\0${octal(seconds, 11)}\0        ${kind}`, 100);
  write("ustar\x0000", 257);
  write("0000000\0".repeat(2), 329);
  const sum = made.reduce((total, byte) => total + byte, 0);
  write(`${octal(sum, 6)}\0 `, 148);
  return made;
}

/** A length that counts itself, the key and the value. */
function record(key: string, value: string): string {
  const rest = TEXT.encode(` ${key}=${value}\n`).length;
  let length = rest + String(rest).length;
  if (String(length).length !== String(rest).length) length += 1;
  return `${length} ${key}=${value}\n`;
}

const octal = (number: number, digits: number): string => number.toString(8).padStart(digits, "0");

const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;
