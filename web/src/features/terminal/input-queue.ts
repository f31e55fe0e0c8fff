/** Small, so that a keystroke after a paste is sent soon. */
const CHUNK = 16 * 1024;
/** Stop sending above this many buffered bytes; the server reads at its own speed. */
const HIGH_WATER = 64 * 1024;
const PAUSE_MS = 10;

interface QueueOptions {
  send: (chunk: Uint8Array<ArrayBuffer>) => void;
  /** Bytes in the browser's send buffer; infinite while disconnected. */
  inFlight: () => number;
  later: (callback: () => void, delayMs: number) => unknown;
  onPending?: (bytes: number) => void;
}

/** Terminal input: sent in order, in chunks, with back-pressure. */
export class InputQueue {
  private chunks: Uint8Array<ArrayBuffer>[] = [];
  private waiting = false;

  constructor(private readonly options: QueueOptions) {}

  add(bytes: Uint8Array<ArrayBuffer>): void {
    for (let at = 0; at < bytes.length; at += CHUNK) this.chunks.push(bytes.subarray(at, at + CHUNK));
    this.pump();
  }

  clear(): void {
    this.chunks = [];
    this.tell();
  }

  /** Sends as much as the buffer allows, and schedules the rest. */
  pump(): void {
    while (this.chunks.length > 0 && this.options.inFlight() < HIGH_WATER) {
      this.options.send(this.chunks.shift() as Uint8Array<ArrayBuffer>);
    }
    this.tell();
    if (this.chunks.length === 0 || this.waiting || this.options.inFlight() === Number.POSITIVE_INFINITY)
      return;
    this.waiting = true;
    this.options.later(() => {
      this.waiting = false;
      this.pump();
    }, PAUSE_MS);
  }

  private tell(): void {
    this.options.onPending?.(this.chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  }
}
