/** A run of text with one style. */
export interface StyledSpan {
  text: string;
  color: number | null;
  bold: boolean;
}

const ESCAPE = "\u001b";
// Colour sequences end with "m"; all other control sequences are dropped.
const SEQUENCE = new RegExp(
  `${ESCAPE}(?:\\[([0-9;?]*)([A-Za-z])|\\][^\u0007${ESCAPE}]*(?:\u0007|${ESCAPE}\\\\)|.)`,
  "g",
);

/** The text of a line without control sequences, split into spans of one colour (0 to 15) and weight. */
export function parseLine(line: string): StyledSpan[] {
  // A program that redraws its line (a progress bar): show only the last version.
  const shown = line.replace(/\r+$/, "");
  const text = shown.slice(shown.lastIndexOf("\r") + 1);
  const spans: StyledSpan[] = [];
  let look: Omit<StyledSpan, "text"> = { color: null, bold: false };
  let from = 0;
  const take = (to: number) => {
    if (to > from) spans.push({ text: text.slice(from, to), ...look });
  };
  for (const match of text.matchAll(SEQUENCE)) {
    take(match.index);
    from = match.index + match[0].length;
    if (match[2] === "m") look = withCodes(look, match[1] ?? "");
  }
  take(text.length);
  return spans;
}

function withCodes(look: Omit<StyledSpan, "text">, codes: string): Omit<StyledSpan, "text"> {
  let { color, bold } = look;
  for (const code of codes.split(";").map(Number)) {
    if (code === 0) [color, bold] = [null, false];
    else if (code === 1) bold = true;
    else if (code === 22) bold = false;
    else if (code === 39) color = null;
    else if (code >= 30 && code <= 37) color = code - 30;
    else if (code >= 90 && code <= 97) color = code - 82;
    // The values after 38 and 48 are a palette index or RGB values, not codes.
    else if (code === 38 || code === 48) break;
  }
  return { color, bold };
}
