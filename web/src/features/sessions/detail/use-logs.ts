import { useDocumentVisibility } from "@mantine/hooks";
import { useCallback, useEffect, useState } from "react";
import { toProblem } from "@/api/problem";
import { LogBuffer, type LogLine } from "./log-buffer";

export const KEPT_LINES = 20_000;
const RETRY_MS = 2_000;

/** Which lines to read; the server filters, so that old lines are searched too. */
export interface LogChoice {
  container: string | null;
  search: string;
  stream: "stdout" | "stderr" | null;
}

interface Logs {
  lines: LogLine[];
  problem: unknown;
  /** The stream is open and new lines arrive. */
  live: boolean;
}

const NOTHING: Logs = { lines: [], problem: null, live: false };

/** The address of the log of a session. */
export function logsUrl(id: string, choice: LogChoice, more: Record<string, string>): string {
  const query = new URLSearchParams(more);
  if (choice.container) query.set("container", choice.container);
  if (choice.search) query.set("search", choice.search);
  if (choice.stream) query.set("stream", choice.stream);
  return `/api/v1/sessions/${encodeURIComponent(id)}/logs?${query}`;
}

/** The log of a session, streamed while `follow` is true; read again from the start after an interruption. */
export function useLogs(id: string, follow: boolean, choice: LogChoice): Logs & { again: () => void } {
  const [logs, setLogs] = useState(NOTHING);
  const [round, setRound] = useState(0);
  const visible = useDocumentVisibility() === "visible";
  const more = { follow: String(follow), tail: String(KEPT_LINES), format: "json" };
  const url = logsUrl(id, choice, more);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round reads again
  useEffect(() => {
    // A hidden tab keeps its lines and closes its connection.
    if (!visible) return;
    const stop = new AbortController();
    void read(url, follow, stop.signal, setLogs);
    return () => stop.abort();
  }, [url, follow, round, visible]);
  return { ...logs, again: useCallback(() => setRound((now) => now + 1), []) };
}

async function read(
  url: string,
  follow: boolean,
  signal: AbortSignal,
  show: (logs: Logs) => void,
): Promise<void> {
  const buffer = new LogBuffer(KEPT_LINES);
  let frame = 0;
  const paint = (live: boolean) => {
    cancelAnimationFrame(frame);
    // Many chunks may arrive per frame; one state update per frame is enough.
    frame = requestAnimationFrame(() => {
      if (!signal.aborted) show({ lines: buffer.read(), problem: null, live });
    });
  };
  try {
    const response = await fetch(url, { signal });
    if (!response.ok || !response.body) throw toProblem(await response.json().catch(() => null), response);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    paint(follow);
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      buffer.add(chunk.value);
      paint(follow);
    }
    paint(false);
  } catch (error) {
    if (signal.aborted) return;
    const problem = toProblem(error);
    show({ lines: buffer.read(), problem, live: false });
    if (problem.unreachable && follow) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      if (!signal.aborted) return read(url, follow, signal, show);
    }
  }
}
