/** Lines of a log as they arrive, the newest so many of them. */
export class LogBuffer {
  private lines: string[] = [];
  private rest = "";
  /** How many lines at the front were let go. */
  dropped = 0;

  constructor(private readonly kept: number) {}

  /** Adds text that may end anywhere; what is after the last line break is the line being written. */
  add(text: string): void {
    const parts = (this.rest + text).split("\n");
    this.rest = parts.pop() ?? "";
    for (const part of parts) this.lines.push(part);
    const over = this.lines.length - this.kept;
    if (over <= 0) return;
    this.lines.splice(0, over);
    this.dropped += over;
  }

  /** The lines so far, the one being written last. */
  read(): string[] {
    return this.rest === "" ? [...this.lines] : [...this.lines, this.rest];
  }
}
