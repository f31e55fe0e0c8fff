import { plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import { writing } from "@/ui/format";
import { cronParts } from "./cron";

const WEEKDAYS = "1,2,3,4,5";
/** A Sunday, and the first month of a year. */
const SUNDAY = Date.UTC(2026, 1, 1);
const DAY_MS = 86_400_000;

/** The name of a weekday; 0 is Sunday. */
export const weekdayName = (weekday: number, locale: string): string =>
  new Intl.DateTimeFormat(writing(locale), { weekday: "long", timeZone: "UTC" }).format(
    SUNDAY + weekday * DAY_MS,
  );

const monthName = (month: number, locale: string): string =>
  new Intl.DateTimeFormat(writing(locale), { month: "long", timeZone: "UTC" }).format(
    Date.UTC(2026, month - 1, 1),
  );

/** A cron expression in words, "Weekdays · 06:00"; the expression itself if it is not a simple one. */
export function useCronWords(): (cron: string) => string {
  const { t, i18n } = useLingui();
  return useCallback(
    (cron) => {
      const parts = cronParts(cron);
      if (!parts) return cron;
      const { times, everyMinutes, everyHours, days, weekdays, months } = parts;
      const listed = (items: readonly string[], type: "conjunction" | "disjunction" = "conjunction") =>
        new Intl.ListFormat(writing(i18n.locale), { type, style: "short" }).format(items);
      const named =
        weekdays.join() === WEEKDAYS
          ? t`Weekdays`
          : listed(weekdays.map((one) => weekdayName(one, i18n.locale)));
      const numbers = days.join(", ");
      const numbered = t`Day ${numbers} of the month`;
      const chosen = [...(days.length > 0 ? [numbered] : []), ...(weekdays.length > 0 ? [named] : [])];
      const hours = everyHours?.hours ?? 1;
      const time = everyMinutes
        ? plural(everyMinutes, { one: "Every minute", other: "Every # minutes" })
        : everyHours
          ? `${plural(hours, { one: "Every hour", other: "Every # hours" })} (:${String(everyHours.minute).padStart(2, "0")})`
          : listed(times);
      const day = chosen.length > 0 ? listed(chosen, "disjunction") : times.length > 0 ? t`Every day` : null;
      const month = months.length > 0 ? listed(months.map((one) => monthName(one, i18n.locale))) : null;
      return [month, day, time].filter((one) => one !== null).join(" · ");
    },
    [t, i18n],
  );
}
