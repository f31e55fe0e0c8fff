interface Props {
  values: number[];
  /** The value at the top of the chart. */
  ceiling: number;
  color: string;
  label: string;
  width?: number;
  height?: number;
}

/** Number of readings in the chart, so that it always spans the same time. */
const SPAN = 60;

/** A small chart of readings over time, the latest at the right. */
export function Sparkline({ values, ceiling, color, label, width = 72, height = 20 }: Props) {
  const step = width / (SPAN - 1);
  const left = width - (values.length - 1) * step;
  const points = values.map((value, index) => {
    const share = ceiling > 0 ? Math.min(1, value / ceiling) : 0;
    return [left + index * step, height - 1 - share * (height - 2)] as const;
  });
  const line = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
  const first = points[0];
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <line x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} stroke="var(--carrel-line)" />
      {first && points.length > 1 && (
        <>
          <polygon points={`${first[0]},${height} ${line} ${width},${height}`} fill={color} opacity="0.16" />
          <polyline points={line} fill="none" stroke={color} strokeWidth="1.4" strokeLinejoin="round" />
        </>
      )}
    </svg>
  );
}
