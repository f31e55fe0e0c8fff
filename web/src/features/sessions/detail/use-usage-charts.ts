import { useLingui } from "@lingui/react/macro";
import { type ComponentProps, useMemo } from "react";
import type { SessionDetail } from "@/api/types";
import type { Line } from "@/ui/chart/series";
import type { TimeChart } from "@/ui/chart/TimeChart";
import { formatCores, formatSize } from "@/ui/format";
import type { UsedContainer } from "./usage-measures";

interface Chart {
  key: string;
  drawing: Pick<ComponentProps<typeof TimeChart>, "title" | "lines" | "format" | "scale">;
}

const COLORS = [
  "--carrel-teal",
  "--carrel-violet",
  "--carrel-brass",
  "--carrel-blue",
  "--carrel-busy",
  "--carrel-bad",
];
const percent = (value: number) => `${Math.round(value)}%`;
const rate = (value: number) => `${formatSize(value)}/s`;

/** The charts of these containers: one line per container and measure; those that were never measured are left out. */
export function useUsageCharts(containers: readonly UsedContainer[], session: SessionDetail): Chart[] {
  const { t } = useLingui();
  return useMemo(() => {
    const several = containers.length > 1;
    const lines = (measure: string, label: string, color: string, at = 0): Line[] =>
      containers.flatMap(({ name, measures }, index) => {
        const series = measures[measure];
        if (!series) return [];
        return [
          {
            key: `${name}:${measure}`,
            label: several ? `${name}: ${label}` : label,
            color: several ? (COLORS[(2 * index + at) % COLORS.length] ?? color) : color,
            values: series.mean,
            peaks: series.peak,
          },
        ];
      });
    const allocated = (amount: number | undefined): Line[] => {
      const points = containers.flatMap(({ measures }) => Object.values(measures))[0]?.mean ?? [];
      if (!amount) return [];
      const label = several ? t`Allocated to each` : t`Allocated`;
      const values = points.map(() => amount);
      return [{ key: "allocated", label, color: "--carrel-ink-soft", values, dashed: true }];
    };
    const used = (measure: string, color: string) => lines(measure, t`Used`, color);
    const charts: Chart[] = [
      {
        key: "cpu",
        drawing: {
          title: t`CPU cores`,
          lines: [...used("cpu_millis", "--carrel-cpu"), ...allocated(session.slots.cpu)],
          format: formatCores,
        },
      },
      {
        key: "mem",
        drawing: {
          title: t`Memory`,
          lines: [...used("mem_bytes", "--carrel-mem"), ...allocated(session.slots.mem)],
          format: formatSize,
          scale: "binary",
        },
      },
      {
        key: "accelerator",
        drawing: {
          title: t`Accelerator`,
          lines: [
            ...lines("accelerator_percent", t`Utilization`, "--carrel-violet"),
            ...lines("accelerator_mem_percent", t`Memory`, "--carrel-mem", 1),
          ],
          format: percent,
        },
      },
      {
        key: "io",
        drawing: {
          title: t`Disk I/O`,
          lines: [
            ...lines("read_rate", t`Read`, "--carrel-teal"),
            ...lines("write_rate", t`Written`, "--carrel-brass", 1),
          ],
          format: rate,
          scale: "binary",
        },
      },
      {
        key: "network",
        drawing: {
          title: t`Network`,
          lines: [
            ...lines("rx_rate", t`Received`, "--carrel-teal"),
            ...lines("tx_rate", t`Sent`, "--carrel-brass", 1),
          ],
          format: rate,
          scale: "binary",
        },
      },
      {
        key: "disk",
        drawing: {
          title: t`Disk space outside folders`,
          lines: [
            ...used("disk_bytes", "--carrel-blue"),
            ...allocated(session.disk_limit_bytes ?? undefined),
          ],
          format: formatSize,
          scale: "binary",
        },
      },
    ];
    return charts.filter(({ drawing }) => drawing.lines.some(({ dashed }) => !dashed));
  }, [containers, session.slots, session.disk_limit_bytes, t]);
}
