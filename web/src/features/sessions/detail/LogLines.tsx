import { useLingui } from "@lingui/react/macro";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import { parseLine } from "./ansi";
import styles from "./LogLines.module.css";
import type { LogLine } from "./log-buffer";

interface Props {
  lines: LogLine[];
  wrap: boolean;
  /** Show when each line was received. */
  times: boolean;
  follow: boolean;
  onFollow: (follow: boolean) => void;
  empty: string;
}

/** Log lines, virtualized. Scrolling up stops following. */
export function LogLines({ lines, wrap, times, follow, onFollow, empty }: Props) {
  const { t } = useLingui();
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 19,
    overscan: 24,
  });
  useEffect(() => {
    if (follow && lines.length > 0) virtual.scrollToIndex(lines.length - 1, { align: "end" });
  }, [follow, lines.length, virtual]);

  return (
    <div
      ref={scroller}
      className={styles.box}
      data-wrap={wrap || undefined}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label={t`Log`}
      onWheel={(event) => event.deltaY < 0 && follow && onFollow(false)}
      onKeyDown={(event) => {
        if (["ArrowUp", "PageUp", "Home"].includes(event.key)) onFollow(false);
        if (event.key === "End") onFollow(true);
      }}
    >
      {lines.length === 0 && <p className={styles.empty}>{empty}</p>}
      <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {virtual.getVirtualItems().map((item) => {
          const line = lines[item.index];
          return (
            <div
              key={item.key}
              data-index={item.index}
              ref={virtual.measureElement}
              className={styles.line}
              data-stream={line?.stream}
              title={line?.stream === "stderr" ? "stderr" : undefined}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              {times && line?.at && (
                <time className={styles.time} dateTime={line.at}>
                  {localTime(line.at)}
                </time>
              )}
              <Line text={line?.text ?? ""} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Line({ text }: { text: string }) {
  const spans = parseLine(text);
  if (spans.length === 0) return "\u00a0";
  return spans.map((span, index) => (
    <span
      // biome-ignore lint/suspicious/noArrayIndexKey: the spans of a line never change their order
      key={index}
      data-color={span.color ?? undefined}
      data-bold={span.bold || undefined}
    >
      {span.text}
    </span>
  ));
}

/** The time by the clock of this machine, to the millisecond. */
function localTime(at: string): string {
  const moment = new Date(at);
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString();
  return local.slice(0, 23).replace("T", " ");
}
