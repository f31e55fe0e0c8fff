/** One output of a cell. */
export type Output =
  | { kind: "text"; text: string; bad: boolean }
  | { kind: "picture"; address: string }
  | { kind: "left-out" };

export interface Cell {
  kind: "code" | "markdown" | "raw";
  source: string;
  count: number | null;
  outputs: Output[];
}

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null;

/** Jupyter stores a text as a string or as an array of lines. */
const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.map(String).join("") : typeof value === "string" ? value : "";

// biome-ignore lint/suspicious/noControlCharactersInRegex: ANSI colour sequences begin with the escape character
const COLOURS = /\u001b\[[0-9;]*[A-Za-z]/g;

/** The cells of a notebook (nbformat 4); null if it is invalid. */
export function readNotebook(text: string): Cell[] | null {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(read) || !Array.isArray(read.cells)) return null;
  return read.cells.filter(isObject).map((cell) => ({
    kind: cell.cell_type === "markdown" || cell.cell_type === "raw" ? cell.cell_type : "code",
    source: textOf(cell.source),
    count: typeof cell.execution_count === "number" ? cell.execution_count : null,
    outputs: Array.isArray(cell.outputs) ? cell.outputs.filter(isObject).map(outputOf) : [],
  }));
}

function outputOf(output: Json): Output {
  if (output.output_type === "error") {
    const trace = Array.isArray(output.traceback) ? output.traceback.map(String).join("\n") : "";
    return plain(trace || `${output.ename}: ${output.evalue}`, true);
  }
  if (output.output_type === "stream") return plain(textOf(output.text), output.name === "stderr");
  const data = isObject(output.data) ? output.data : {};
  for (const type of ["image/png", "image/jpeg", "image/gif"]) {
    const encoded = textOf(data[type]).replace(/\s/g, "");
    if (encoded) return { kind: "picture", address: `data:${type};base64,${encoded}` };
  }
  const svg = textOf(data["image/svg+xml"]);
  // Render SVG as an image, which runs no scripts.
  if (svg) return { kind: "picture", address: `data:image/svg+xml,${encodeURIComponent(svg)}` };
  const text = textOf(data["text/plain"]);
  return text ? plain(text, false) : { kind: "left-out" };
}

const plain = (text: string, bad: boolean): Output => ({
  kind: "text",
  text: text.replace(COLOURS, ""),
  bad,
});
