/** Quotes a word for a POSIX shell if needed. */
export function shellQuote(word: string): string {
  // zsh expands a leading "=" to a command's path, and shells a leading "~" to a home directory.
  if (/^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*$/.test(word)) return word;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Joins words to a POSIX shell command. */
export const commandLine = (...words: string[]): string => words.map(shellQuote).join(" ");
