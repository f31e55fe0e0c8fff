/** A line of a log. at: when it was received, if known. */
export interface LogLine {
  at: string | null;
  stream: "stdout" | "stderr" | "carrel";
  text: string;
}

/** A line longer than the engine's limit comes in several records; only the last is not partial. */
interface LogRecord extends LogLine {
  partial?: boolean;
}

const LONGEST_LINE = 64 * 1024;

/** Ring buffer of log lines. */
export class LogBuffer {
  private lines: LogLine[] = [];
  private rest = "";
  private readonly open = new Map<string, LogLine>();

  constructor(private readonly kept: number) {}

  /** Adds a chunk of JSON lines, which may end anywhere. */
  add(chunk: string): void {
    const parts = (this.rest + chunk).split("\n");
    this.rest = parts.pop() ?? "";
    for (const part of parts) this.addRecord(JSON.parse(part));
    const over = this.lines.length - this.kept;
    if (over > 0) this.lines.splice(0, over);
  }

  /** The lines so far, including incomplete ones. */
  read(): LogLine[] {
    return [...this.lines];
  }

  private addRecord({ at, stream, text, partial = false }: LogRecord): void {
    const begun = this.open.get(stream);
    if (begun) {
      begun.text += text;
      if (!partial || begun.text.length > LONGEST_LINE) this.open.delete(stream);
      return;
    }
    const line = { at, stream, text };
    this.lines.push(line);
    if (partial) this.open.set(stream, line);
  }
}
