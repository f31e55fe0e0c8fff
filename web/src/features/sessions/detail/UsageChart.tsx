import { useLingui } from "@lingui/react/macro";
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { writing } from "@/ui/format";
import styles from "./UsageChart.module.css";

interface Props {
  /** Unix seconds, ascending. */
  times: number[];
  values: number[];
  /** The allocation: the top of the chart. */
  given: number;
  format: (value: number) => string;
  /** Name of a colour token. */
  color: string;
  label: string;
}

const HEIGHT = 150;
const QUARTERS = [0, 0.25, 0.5, 0.75, 1];

/** A chart of one measurement over time. */
export function UsageChart({ times, values, given, format, color, label }: Props) {
  const { i18n } = useLingui();
  const scheme = useComputedColorScheme("light");
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef({ times, values });
  latest.current = { times, values };

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new colour scheme or language redraws the chart
  useEffect(() => {
    const root = box.current;
    if (!root) return;
    const token = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const axis = {
      stroke: token("--carrel-ink-soft"),
      grid: { stroke: token("--carrel-line"), width: 1 },
      ticks: { show: false },
      font: "11px system-ui",
    };
    const clock = new Intl.DateTimeFormat(writing(i18n.locale), { hour: "2-digit", minute: "2-digit" });
    const drawn = new uPlot(
      {
        width: root.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        scales: { y: { range: (_, __, max) => [0, Math.max(given, max ?? 0) * 1.05 || 1] } },
        axes: [
          {
            ...axis,
            size: 26,
            values: (_, splits) => splits.map((at) => clock.format(at * 1000)),
            space: 70,
          },
          {
            ...axis,
            size: 64,
            splits: () => QUARTERS.map((share) => share * given),
            values: (_, splits) => splits.map(format),
          },
        ],
        series: [
          {},
          { stroke: token(color), fill: `${token(color)}26`, width: 1.6, points: { show: false } },
          { stroke: token("--carrel-ink-soft"), dash: [4, 4], width: 1, points: { show: false } },
        ],
      },
      shape(latest.current, given),
      root,
    );
    plot.current = drawn;
    const sizes = new ResizeObserver(() => drawn.setSize({ width: root.clientWidth, height: HEIGHT }));
    sizes.observe(root);
    return () => {
      sizes.disconnect();
      drawn.destroy();
      plot.current = null;
    };
  }, [scheme, i18n.locale, given, color, format]);

  useEffect(() => plot.current?.setData(shape({ times, values }, given)), [times, values, given]);
  return <div ref={box} className={styles.chart} role="img" aria-label={label} />;
}

function shape({ times, values }: { times: number[]; values: number[] }, given: number): uPlot.AlignedData {
  return [times, values, times.map(() => given)];
}
