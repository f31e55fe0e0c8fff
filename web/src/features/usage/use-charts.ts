import { useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import type { Line } from "@/ui/chart/series";
import { formatDuration } from "@/ui/format";
import { slotAmount, slotColor, slotUnit, useSlotName } from "@/ui/slots";
import type { Chart } from "./chart";
import { useHostCharts } from "./host-charts";
import { type Measures, measuredKinds, measuredSlots } from "./measures";

const token = (slot: string) => slotColor(slot).slice(4, -1);
const percent = (value: number) => `${Math.round(value)}%`;
const count = (value: number) => String(Math.round(value * 10) / 10);
const NOTHING: Chart[] = [];
/** Of the kinds of accelerators in one chart, as far as they differ. */
const KIND_COLORS = ["--carrel-violet", "--carrel-teal", "--carrel-mem", "--carrel-blue", "--carrel-cpu"];

/** The charts of a history: each slot, accelerator utilisation, sessions, waits, and a machine's network and disks. */
export function useCharts(measures: Measures | undefined): Chart[] {
  const { t, i18n } = useLingui();
  const slotName = useSlotName();
  const hostCharts = useHostCharts();
  return useMemo(() => {
    if (!measures) return NOTHING;
    const line = (name: string, label: string, color: string, dashed = false): Line[] => {
      const series = measures[name];
      return series ? [{ key: name, label, color, values: series.mean, peaks: series.peak, dashed }] : [];
    };
    const ofSlot = (slot: string): Chart => ({
      key: slot,
      drawing: {
        title: slotName(slot),
        lines: [
          ...line(`${slot}.used`, t`Used`, token(slot)),
          ...line(`host.${slot}`, t`Whole host`, "--carrel-violet"),
          ...line(`${slot}.allocated`, t`Allocated`, "--carrel-blue"),
          ...line(`${slot}.capacity`, t`Capacity`, "--carrel-ink-soft", true),
        ],
        // Of whole devices, a part may be in use.
        format: (value) =>
          slotAmount(slot, slotUnit(slot) === 1 ? Math.round(value * 10) / 10 : Math.round(value)),
        scale: slot === "mem" ? "binary" : "decimal",
      },
    });
    const kinds = measuredKinds(measures);
    const others: Chart[] = [
      {
        key: "accelerator.used",
        drawing: {
          title: t`Accelerator utilization`,
          lines: kinds.length
            ? kinds.flatMap((slot, at) =>
                line(`${slot}.percent`, slotName(slot), KIND_COLORS[at % KIND_COLORS.length] ?? ""),
              )
            : line("accelerator.used", t`Used`, "--carrel-violet"),
          format: percent,
        },
      },
      {
        key: "sessions",
        drawing: {
          title: t`Sessions`,
          lines: [
            ...line("sessions.live", t`Live`, "--carrel-teal"),
            ...line("sessions.pending", t`Pending`, "--carrel-busy"),
          ],
          format: count,
          scale: "whole",
        },
      },
      {
        key: "wait_s",
        drawing: {
          title: t`Median wait of started sessions`,
          lines: line("wait_s", t`Wait`, "--carrel-busy"),
          format: (value) => formatDuration(value * 1000, i18n.locale),
          scale: "whole",
        },
      },
    ];
    const measured = [...others, ...hostCharts(line)].filter(({ drawing }) => drawing.lines.length > 0);
    return [...measuredSlots(measures).map(ofSlot), ...measured];
  }, [measures, t, i18n.locale, slotName, hostCharts]);
}
