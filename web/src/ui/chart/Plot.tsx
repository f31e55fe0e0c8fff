import { useLingui } from "@lingui/react/macro";
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { writing } from "@/ui/format";
import { distinct, type Line, type Scale, type TimeRange, timeLabels, valueTicks } from "./series";
import styles from "./TimeChart.module.css";

export interface PlotProps {
  times: readonly number[];
  lines: readonly Line[];
  range: TimeRange;
  scale: Scale;
  format: (value: number) => string;
  /** Charts of one group share the hovered moment. */
  group: string;
  height: number;
  onHover: (index: number | null) => void;
  onZoom: (range: TimeRange | null) => void;
}

/** The drawing of a chart. Hidden from screen readers, which have the table. */
export function Plot(props: PlotProps) {
  const { i18n } = useLingui();
  const scheme = useComputedColorScheme("light");
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const { times, lines, range, format, scale, group, height } = props;
  const drawn = lines.map(({ key, color, dashed }) => `${key} ${color} ${dashed}`).join();

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new colour scheme or language redraws the chart
  useEffect(() => {
    const root = box.current;
    if (!root) return;
    const made = new uPlot(options(root, latest, i18n.locale), shape(latest.current), root);
    plot.current = made;
    const sizes = new ResizeObserver(() => made.setSize({ width: root.clientWidth, height }));
    sizes.observe(root);
    return () => {
      sizes.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [scheme, i18n.locale, drawn, format, scale, group, height]);

  useEffect(() => plot.current?.setData(shape({ times, lines, range })), [times, lines, range]);
  return <div ref={box} className={styles.plot} style={{ minHeight: height }} aria-hidden />;
}

function shape({ times, lines }: Pick<PlotProps, "times" | "lines" | "range">): uPlot.AlignedData {
  return [times as number[], ...lines.map(({ values }) => values as (number | null)[])];
}

function options(root: HTMLElement, latest: { current: PlotProps }, locale: string): uPlot.Options {
  const { lines, format, scale, group, height } = latest.current;
  const style = getComputedStyle(root);
  const token = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: token("--carrel-ink-soft"),
    grid: { stroke: token("--carrel-line"), width: 1 },
    ticks: { show: false },
    font: `11px ${style.fontFamily}`,
  };
  return {
    width: root.clientWidth,
    height,
    legend: { show: false },
    padding: [8, 24, 0, 0],
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false },
      bind: {
        dblclick: () => () => {
          latest.current.onZoom(null);
          return null;
        },
      },
      sync: { key: group, setSeries: false },
    },
    hooks: {
      setCursor: [({ cursor }) => latest.current.onHover(cursor.idx ?? null)],
      setSelect: [
        (self) => {
          if (self.select.width < 5) return;
          const [from, to] = [self.select.left, self.select.left + self.select.width];
          self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          latest.current.onZoom([self.posToVal(from, "x"), self.posToVal(to, "x")]);
        },
      ],
    },
    scales: {
      x: { range: () => [...latest.current.range] },
      y: { range: (_, __, max) => [0, Math.max((max ?? 0) * 1.05, scale === "whole" ? 1 : 0) || 1] },
    },
    axes: [
      {
        ...axis,
        size: 26,
        space: 70,
        values: (_, splits, __, ___, step) => timeLabels(splits, step, writing(locale)),
      },
      {
        ...axis,
        size: 64,
        splits: (_, __, ___, top) => valueTicks(top, scale),
        values: (_, splits) => distinct(splits.map(format)),
      },
    ],
    series: [
      {},
      ...lines.map(
        ({ color, dashed }): uPlot.Series =>
          dashed
            ? { stroke: token(color), dash: [4, 4], width: 1, points: { show: false } }
            : { stroke: token(color), fill: `${token(color)}26`, width: 1.6, points: { show: false } },
      ),
    ],
  };
}
