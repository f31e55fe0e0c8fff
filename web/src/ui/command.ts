/** The word as a POSIX shell must be given it, quoted only where it needs to be. */
export function shellQuote(word: string): string {
  // A leading "=" is a command's path to zsh, and a leading "~" somebody's home.
  if (/^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/.test(word)) return word;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Words as one line of a POSIX shell. */
export const commandLine = (...words: string[]): string => words.map(shellQuote).join(" ");
