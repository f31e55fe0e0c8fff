import { Trans, useLingui } from "@lingui/react/macro";
import { Skeleton, Title } from "@mantine/core";
import { Suspense, useState } from "react";
import { part } from "@/routing/part";
import { ChartTable } from "./ChartTable";
import { type Line, type Scale, summary, type TimeRange } from "./series";
import styles from "./TimeChart.module.css";
import { useMoment } from "./use-moment";

const Plot = part(() => import("./Plot").then((m) => m.Plot));

interface Props {
  title: string;
  /** Unix seconds, ascending. */
  times: readonly number[];
  lines: readonly Line[];
  /** The shown period; the axis spans all of it. */
  range: TimeRange;
  scale?: Scale;
  format: (value: number) => string;
  group: string;
  height?: number;
  /** Called with a period dragged over, and with null on a double click. */
  onZoom: (range: TimeRange | null) => void;
}

/** Measurements over time: a drawing, the mean and peak of each line, and a table. */
export function TimeChart({ title, times, lines, range, format, group, onZoom, ...drawing }: Props) {
  const moment = useMoment();
  const [hovered, setHovered] = useState<number | null>(null);
  const at = hovered === null ? undefined : times[hovered];
  const { scale = "decimal", height = 150 } = drawing;
  return (
    <figure aria-label={title} className={styles.chart}>
      <Title order={3} size="h6">
        {title}
        {at !== undefined && <span className={styles.faint}> · {moment(at)}</span>}
      </Title>
      <ul className={styles.legend}>
        {lines.map((line) => (
          <Legend
            key={line.key}
            line={line}
            summary={line.dashed ? null : summary(times, line, range)}
            value={line.values[hovered ?? times.length - 1]}
            format={format}
          />
        ))}
      </ul>
      <Suspense fallback={<Skeleton height={height} aria-busy />}>
        <Plot
          {...{ times, lines, range, format, group, scale, height, onZoom }}
          onHover={(index) => setHovered(index)}
        />
      </Suspense>
      <ChartTable title={title} times={times} lines={lines} range={range} format={format} />
    </figure>
  );
}

interface LegendProps {
  line: Line;
  summary: ReturnType<typeof summary>;
  /** At the hovered moment, else the newest. */
  value: number | null | undefined;
  format: (value: number) => string;
}

function Legend({ line, summary, value, format }: LegendProps) {
  const { t } = useLingui();
  const [mean, peak] = summary ? [format(summary.mean), format(summary.peak)] : [];
  return (
    <li>
      <span
        className={styles.swatch}
        style={{ borderColor: `var(${line.color})`, borderTopStyle: line.dashed ? "dashed" : "solid" }}
        aria-hidden
      />
      <span>{line.label}</span>
      <strong>{value == null ? t`not measured` : format(value)}</strong>
      {summary && (
        <span className={styles.faint}>
          <Trans>
            mean {mean}, peak {peak}
          </Trans>
        </span>
      )}
    </li>
  );
}
