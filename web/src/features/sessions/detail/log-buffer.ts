/** Ring buffer of log lines. */
export class LogBuffer {
  private lines: string[] = [];
  private rest = "";
  /** Number of lines dropped at the start. */
  dropped = 0;

  constructor(private readonly kept: number) {}

  /**
   * Adds a chunk of text, which may end anywhere; the text after the last line break is an incomplete line.
   */
  add(text: string): void {
    const parts = (this.rest + text).split("\n");
    this.rest = parts.pop() ?? "";
    for (const part of parts) this.lines.push(part);
    const over = this.lines.length - this.kept;
    if (over <= 0) return;
    this.lines.splice(0, over);
    this.dropped += over;
  }

  /** The lines so far, including an incomplete last one. */
  read(): string[] {
    return this.rest === "" ? [...this.lines] : [...this.lines, this.rest];
  }
}
