/** A byte that no text holds. */
const NUL = 0;

/**
 * The bytes as text, or null when they are none.
 *
 * whole: there is no more of the file; else its last character may be cut, and is left out.
 */
export function decoded(bytes: Uint8Array, complete: boolean): string | null {
  if (bytes.includes(NUL)) return null;
  const cuts = complete ? [0] : [0, 1, 2, 3];
  for (const cut of cuts) {
    try {
      const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
      return decoder.decode(bytes.subarray(0, bytes.length - cut));
    } catch {
      // One byte less may end between two characters.
    }
  }
  return null;
}

/** What ends the lines of a text: "\r\n" where all of them do, else "\n"; a lone "\r" is part of its line then. */
export const lineEnd = (text: string): "\r\n" | "\n" =>
  /\r\n/.test(text) && !/[^\r]\n|^\n/.test(text) ? "\r\n" : "\n";
