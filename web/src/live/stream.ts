export type StreamState = "connecting" | "open" | "reconnecting";

export interface LiveEvent {
  /** Absent for events that are not stored, such as usage readings. */
  id?: string;
  kind: string;
  object?: { kind: string; id: string };
  data: unknown;
}

/** The subset of EventSource that is used; tests provide their own. */
export interface Source {
  readyState: number;
  onopen: ((event: Event) => unknown) | null;
  onerror: ((event: Event) => unknown) | null;
  addEventListener(kind: string, listener: (event: MessageEvent<string>) => void): void;
  close(): void;
}

interface StreamOptions {
  url: string;
  onEvent: (event: LiveEvent) => void;
  onState: (state: StreamState) => void;
  /** The server responded with an error; the session may have expired. */
  onRefused?: () => void;
  open?: (url: string) => Source;
  later?: (callback: () => void, delayMs: number) => unknown;
}

/** EventSource delivers only named event types. */
export const EVENT_KINDS = [
  "hello",
  "session.created",
  "session.updated",
  "session.shared",
  "session.unshared",
  "session.apps",
  "usage",
  "user.created",
  "user.updated",
  "project.created",
  "project.updated",
  "project.removed",
  "domain.created",
  "domain.updated",
  "domain.removed",
  "node.updated",
  "node.removed",
  "node.device_unhealthy",
  "node.device_healthy",
  "group.created",
  "group.updated",
  "group.removed",
  "preset.created",
  "preset.updated",
  "preset.removed",
  "schedule.created",
  "schedule.updated",
  "schedule.removed",
  "template.created",
  "template.updated",
  "template.removed",
  "policy.created",
  "policy.updated",
  "policy.removed",
  "engine.created",
  "engine.updated",
  "engine.removed",
  "storage_host.created",
  "storage_host.updated",
  "storage_host.removed",
  "vfolder.created",
  "vfolder.updated",
  "vfolder.removed",
  "vfolder_task.updated",
  "quota.updated",
  "files.changed",
  "invitation.created",
  "invitation.updated",
  "invitation.removed",
  "image_pull.updated",
  "accelerator_check.updated",
  "node_image.updated",
  "environment.updated",
  "environment.removed",
  "image.updated",
  "image_scan.updated",
  "registry.created",
  "registry.updated",
  "registry.removed",
  "registry_scan.updated",
  "rescan.updated",
];
const CLOSED = 2;
const LONGEST_WAIT_MS = 15_000;

/**
 * An event stream that reconnects.
 *
 * The browser retries a lost connection, but gives up after an error response of a proxy or a restarting
 * server; then this opens a new one, with backoff, and resumes after the last event.
 */
export class EventStream {
  private source: Source | null = null;
  private lastEventId: string | null = null;
  private failures = 0;
  private stopped = false;

  constructor(private readonly options: StreamOptions) {
    this.connect();
  }

  /** Retries at once, for when the network is back. */
  retry(): void {
    if (this.stopped || this.source?.readyState === 1) return;
    this.failures = 0;
    this.connect();
  }

  /** Replaces a connection that may be dead unnoticed. */
  reconnect(): void {
    this.pause();
    this.retry();
  }

  /** Closes the connection until `retry`, which resumes after the last event. */
  pause(): void {
    this.source?.close();
    this.source = null;
  }

  close(): void {
    this.stopped = true;
    this.pause();
  }

  private connect(): void {
    if (this.stopped) return;
    this.source?.close();
    const { url, open = (address) => new EventSource(address) as Source } = this.options;
    const resume = this.lastEventId === null ? "" : `&last_event_id=${encodeURIComponent(this.lastEventId)}`;
    const source = open(url + resume);
    this.source = source;
    source.onopen = () => {
      this.failures = 0;
      this.options.onState("open");
    };
    source.onerror = () => this.onBreak(source);
    for (const kind of EVENT_KINDS) source.addEventListener(kind, (event) => this.onMessage(kind, event));
  }

  private onBreak(source: Source): void {
    if (this.stopped || source !== this.source) return;
    this.options.onState("reconnecting");
    if (source.readyState !== CLOSED) return;
    this.options.onRefused?.();
    this.failures += 1;
    const delay = Math.min(LONGEST_WAIT_MS, 500 * 2 ** this.failures);
    const later = this.options.later ?? setTimeout;
    later(() => source === this.source && this.connect(), delay);
  }

  private onMessage(kind: string, event: MessageEvent<string>): void {
    if (event.lastEventId) this.lastEventId = event.lastEventId;
    const frame = event.data ? JSON.parse(event.data) : {};
    // A usage frame may be the bare readings or an envelope.
    const data = frame && typeof frame === "object" && "data" in frame ? frame.data : frame;
    this.options.onEvent({ id: frame?.id, kind, object: frame?.object, data });
  }
}
