/** A byte that text files do not contain. */
const NUL = 0;

/**
 * The bytes decoded as text, or null if they are not text.
 *
 * complete: these are all bytes of the file; otherwise a truncated last character is dropped.
 */
export function decoded(bytes: Uint8Array, complete: boolean): string | null {
  if (bytes.includes(NUL)) return null;
  const cuts = complete ? [0] : [0, 1, 2, 3];
  for (const cut of cuts) {
    try {
      const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
      return decoder.decode(bytes.subarray(0, bytes.length - cut));
    } catch {
      // A character may be cut: retry with one byte less.
    }
  }
  return null;
}

/** The line ending of a text: "\r\n" if all lines use it, else "\n"; a lone "\r" is then part of its line. */
export const lineEnd = (text: string): "\r\n" | "\n" =>
  /\r\n/.test(text) && !/[^\r]\n|^\n/.test(text) ? "\r\n" : "\n";
