/** Downloads a text as a file. */
export function downloadText(name: string, text: string, type: string): void {
  // The byte order mark tells spreadsheets that the text is UTF-8.
  const parts = type.startsWith("text/csv") ? ["\ufeff", text] : [text];
  const url = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
