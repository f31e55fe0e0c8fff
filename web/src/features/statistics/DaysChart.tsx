import { useLingui } from "@lingui/react/macro";
import { useMemo, useState } from "react";
import type { StatisticsView } from "@/api/generated/types.gen";
import type { TimeRange } from "@/ui/chart/series";
import { TimeChart } from "@/ui/chart/TimeChart";
import panel from "@/ui/Panel.module.css";
import { inSlotOrder, slotColor, slotUnit, useSlotName } from "@/ui/slots";
import type { Amounts } from "./amounts";
import { everyDay } from "./period";
import styles from "./Statistics.module.css";

const DAY_S = 86_400;

/** Slot-hours allocated and used on each day. */
export function DaysChart({ view, amounts }: { view: StatisticsView; amounts: Amounts }) {
  const { t } = useLingui();
  const slotName = useSlotName();
  const [zoom, setZoom] = useState<TimeRange | null>(null);
  const days = useMemo(() => everyDay(view.first, view.last), [view.first, view.last]);
  // Points in the middle of a day of this place, so that the axis names the day that is meant.
  const times = useMemo(() => days.map((day) => Date.parse(`${day}T12:00:00`) / 1000), [days]);
  const range = useMemo<TimeRange>(
    () => zoom ?? [(times[0] ?? 0) - DAY_S / 2, (times.at(-1) ?? 0) + DAY_S / 2],
    [zoom, times],
  );
  const charts = useMemo(() => {
    const known = new Map(view.days.map((one) => [one.day, one]));
    const values = (slot: string, what: "held" | "used") =>
      days.map((day) =>
        Date.parse(day) < Date.parse(view.until ?? view.first)
          ? (known.get(day)?.[what][slot] ?? 0) / slotUnit(slot)
          : null,
      );
    return inSlotOrder(Object.keys(view.total.slots)).map((slot) => ({
      slot,
      title: `${slotName(slot)}, ${amounts.unit(slot)}`,
      lines: [
        { key: "held", label: t`Allocated`, color: "--carrel-blue", values: values(slot, "held") },
        {
          key: "used",
          label: t`Used`,
          color: slotColor(slot).slice(4, -1),
          values: values(slot, "used"),
        },
      ],
    }));
  }, [view, days, slotName, amounts, t]);
  return (
    <section aria-label={t`By day`} className={styles.charts}>
      {charts.map(({ slot, title, lines }) => (
        <div key={slot} className={panel.panel}>
          <TimeChart
            title={title}
            lines={lines}
            format={amounts.plain}
            group="statistics"
            onZoom={setZoom}
            {...{ times, range }}
          />
        </div>
      ))}
    </section>
  );
}
