/** Small enough that a keystroke after a paste is not stuck behind it for long. */
const CHUNK = 16 * 1024;
/** Stop adding when so much waits in the browser; the far end reads at its own speed. */
const HIGH_WATER = 64 * 1024;
const PAUSE_MS = 10;

interface QueueOptions {
  send: (chunk: Uint8Array<ArrayBuffer>) => void;
  /** Bytes given to the browser and not yet on the wire; infinite while the line is down. */
  inFlight: () => number;
  later: (callback: () => void, delayMs: number) => unknown;
  onPending?: (bytes: number) => void;
}

/** Input on its way to a shell: sent in order, in chunks, and only as fast as the line takes it. */
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

  /** Sends what the line has room for, and comes back for the rest. */
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
