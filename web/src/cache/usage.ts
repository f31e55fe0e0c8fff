import { useSyncExternalStore } from "react";

export interface Readings {
  cpu_millis: number[];
  mem_bytes: number[];
  /** The mean of its accelerators; null: not measured. */
  accelerator_percent: (number | null)[];
}

type Reading = { [Measure in keyof Readings]: Readings[Measure][number] };

/** Readings kept per session: five minutes at one per ten seconds. */
const KEPT = 30;
const NONE: Readings = { cpu_millis: [], mem_bytes: [], accelerator_percent: [] };

/**
 * The latest resource usage of each session, fed by events; a sparkline subscribes to its own session only.
 */
export class UsageFeed {
  private readonly readings = new Map<string, Readings>();
  private readonly listeners = new Map<string, Set<() => void>>();

  /** Adds the readings from before the page was opened, unless live readings go further back. */
  fill(id: string, past: Readings): void {
    if (this.of(id).cpu_millis.length >= past.cpu_millis.length) return;
    this.readings.set(id, {
      cpu_millis: past.cpu_millis.slice(-KEPT),
      mem_bytes: past.mem_bytes.slice(-KEPT),
      accelerator_percent: past.accelerator_percent.slice(-KEPT),
    });
    this.tell(id);
  }

  add(latest: Record<string, Reading>): void {
    for (const [id, reading] of Object.entries(latest)) {
      const before = this.of(id);
      this.readings.set(id, {
        cpu_millis: [...before.cpu_millis, reading.cpu_millis].slice(-KEPT),
        mem_bytes: [...before.mem_bytes, reading.mem_bytes].slice(-KEPT),
        accelerator_percent: [...before.accelerator_percent, reading.accelerator_percent].slice(-KEPT),
      });
      this.tell(id);
    }
  }

  of(id: string): Readings {
    return this.readings.get(id) ?? NONE;
  }

  subscribe(id: string, listener: () => void): () => void {
    const those = this.listeners.get(id) ?? new Set();
    this.listeners.set(id, those.add(listener));
    return () => {
      those.delete(listener);
      if (those.size === 0) this.listeners.delete(id);
    };
  }

  private tell(id: string): void {
    for (const listener of this.listeners.get(id) ?? []) listener();
  }
}

export const usageFeed = new UsageFeed();

/** The latest readings of one session, oldest first; renders only on readings of that session. */
export function useReadings(id: string): Readings {
  return useSyncExternalStore(
    (listener) => usageFeed.subscribe(id, listener),
    () => usageFeed.of(id),
  );
}
