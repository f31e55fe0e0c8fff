import { InputQueue } from "./input-queue";

export type LinkState =
  | { kind: "connecting" }
  | { kind: "open" }
  | { kind: "reconnecting"; attempt: number }
  | { kind: "exited"; code: number | null }
  | { kind: "refused"; code: string; detail: string };

/** The subset of WebSocket that is used; tests provide their own. */
export interface Wire {
  binaryType: BinaryType;
  readyState: number;
  bufferedAmount: number;
  onmessage: ((event: MessageEvent) => unknown) | null;
  onclose: ((event: CloseEvent) => unknown) | null;
  send(frame: string | Uint8Array<ArrayBuffer>): void;
  close(): void;
}

export interface LinkOptions {
  /** URL of the terminal, without a query. */
  address: string;
  /** The container of the session; absent: the main one. */
  container?: string | undefined;
  size: () => { cols: number; rows: number };
  onOutput: (bytes: Uint8Array) => void;
  onState: (state: LinkState) => void;
  /** Output is missing: this many bytes left the server's buffer while disconnected. */
  onGap: (bytes: number) => void;
  /** The previous shell is gone; output now comes from a new one. */
  onFresh: () => void;
  onPending?: (bytes: number) => void;
  /** The terminal to resume, from the oldest buffered output. */
  resume?: string | null;
  /** The terminal to resume later; null if it is gone. */
  onTerminal?: (terminal: string | null) => void;
  open?: (url: string) => Wire;
  later?: (callback: () => void, delayMs: number) => unknown;
}

const OPEN = 1;
const LONGEST_WAIT_MS = 8_000;

/**
 * A connection to a shell that resumes after interruptions.
 *
 * Every output byte has an offset. The client counts the bytes that it has shown and sends the count on
 * reconnect; the server sends the rest, so that no output is repeated or lost while it is still buffered.
 */
export class TerminalLink {
  private wire: Wire | null = null;
  private terminal: string | null;
  /** Offset of the next output byte; null before any output. */
  private offset: number | null = null;
  private toSkip = 0;
  private attempt = 0;
  /** The server has confirmed the terminal of this connection. */
  private attached = false;
  private over = false;
  private readonly input: InputQueue;

  constructor(private readonly options: LinkOptions) {
    this.terminal = options.resume ?? null;
    this.input = new InputQueue({
      send: (chunk) => this.wire?.send(chunk),
      inFlight: () => (this.ready ? (this.wire?.bufferedAmount ?? 0) : Number.POSITIVE_INFINITY),
      // The browser's setTimeout throws if it is called as a method of another object.
      later: options.later ?? ((callback, delayMs) => setTimeout(callback, delayMs)),
      onPending: options.onPending,
    });
    options.onState({ kind: "connecting" });
    this.connect();
  }

  private get ready(): boolean {
    return this.attached && this.wire?.readyState === OPEN;
  }

  /** Sends typed or pasted input; false when disconnected, and the input is dropped. */
  send(input: string | Uint8Array<ArrayBuffer>): boolean {
    if (!this.ready || this.over) return false;
    this.input.add(typeof input === "string" ? new TextEncoder().encode(input) : input);
    return true;
  }

  /** Drops the unsent rest of a paste. */
  dropPending(): void {
    this.input.clear();
  }

  resize(cols: number, rows: number): void {
    if (this.ready) this.wire?.send(JSON.stringify({ type: "resize", cols, rows }));
  }

  /** Ends the shell, unless disconnected: then it ends by itself after a while. */
  hangUp(): void {
    if (this.ready) this.wire?.send(JSON.stringify({ type: "hangup" }));
    this.options.onTerminal?.(null);
    this.close();
  }

  /** The network state changed: act now instead of waiting for a time-out. */
  networkChanged(online: boolean): void {
    if (this.over) return;
    if (!online) this.abandon();
    else if (this.wire === null || this.wire.readyState > OPEN) this.connect();
  }

  close(): void {
    this.over = true;
    this.input.clear();
    this.wire?.close();
  }

  private connect(): void {
    if (this.over) return;
    const { cols, rows } = this.options.size();
    const query = new URLSearchParams({ cols: String(cols), rows: String(rows) });
    if (this.options.container) query.set("container", this.options.container);
    if (this.terminal !== null) {
      query.set("terminal", this.terminal);
      if (this.offset !== null) query.set("offset", String(this.offset));
    }
    const open = this.options.open ?? ((url: string) => new WebSocket(url) as Wire);
    this.attached = false;
    const wire = open(`${this.options.address}?${query}`);
    wire.binaryType = "arraybuffer";
    this.wire = wire;
    wire.onmessage = (event) => wire === this.wire && this.onFrame(event.data);
    wire.onclose = (event) => wire === this.wire && this.onClose(event);
  }

  private onFrame(frame: ArrayBuffer | string): void {
    if (typeof frame !== "string") {
      this.onBytes(new Uint8Array(frame));
      return;
    }
    const message = JSON.parse(frame);
    if (message.type === "gone") {
      this.terminal = null;
      this.offset = null;
      this.input.clear();
      this.options.onFresh();
    } else if (message.type === "ready") {
      this.onReady(message.terminal, message.offset ?? 0);
    } else if (message.type === "exit") {
      this.exited(message.code ?? null);
    }
  }

  private onReady(terminal: string, position: number): void {
    const gap = this.terminal === terminal && this.offset !== null ? position - this.offset : 0;
    if (gap > 0) this.options.onGap(gap);
    this.toSkip = Math.max(0, -gap);
    this.terminal = terminal;
    this.options.onTerminal?.(terminal);
    this.offset = position;
    this.attempt = 0;
    this.attached = true;
    this.options.onState({ kind: "open" });
    // The window may have been resized while disconnected.
    const { cols, rows } = this.options.size();
    this.resize(cols, rows);
    this.input.pump();
  }

  private onBytes(bytes: Uint8Array): void {
    this.offset = (this.offset ?? 0) + bytes.length;
    const fresh = bytes.subarray(Math.min(this.toSkip, bytes.length));
    this.toSkip -= bytes.length - fresh.length;
    if (fresh.length > 0) this.options.onOutput(fresh);
  }

  private exited(code: number | null): void {
    this.over = true;
    this.options.onTerminal?.(null);
    this.options.onState({ kind: "exited", code });
  }

  /** Abandons the connection without waiting for its close event, which may come late without a network. */
  private abandon(): void {
    if (this.wire === null || this.wire.readyState > OPEN) return;
    this.wire.onmessage = null;
    this.wire.onclose = null;
    this.wire.close();
    this.broken();
  }

  private onClose(event: CloseEvent): void {
    this.attached = false;
    if (this.over) return;
    if (event.code >= 4400 && event.code < 4500) {
      this.over = true;
      this.options.onState({ kind: "refused", ...refusal(event) });
      return;
    }
    // A normal close without an exit code still means that the shell has ended.
    if (event.code === 1000) {
      this.exited(null);
      return;
    }
    this.broken();
  }

  private broken(): void {
    this.attached = false;
    this.attempt += 1;
    this.options.onState({ kind: "reconnecting", attempt: this.attempt });
    const broken = this.wire;
    const delay = Math.min(LONGEST_WAIT_MS, 125 * 2 ** this.attempt);
    const later = this.options.later ?? setTimeout;
    later(() => broken === this.wire && this.connect(), delay);
  }
}

function refusal(event: CloseEvent): { code: string; detail: string } {
  try {
    const reason = JSON.parse(event.reason);
    return { code: String(reason.code ?? event.code), detail: String(reason.detail ?? "") };
  } catch {
    return { code: String(event.code), detail: event.reason };
  }
}
