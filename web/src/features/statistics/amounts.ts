import { useLingui } from "@lingui/react/macro";
import { useCallback, useMemo } from "react";
import { writing } from "@/ui/format";
import { slotUnit } from "@/ui/slots";

/** Writers of slot-hours, prices and seconds in the user's language. */
export function useAmounts(currency: string) {
  const { t, i18n } = useLingui();
  const locale = writing(i18n.locale);
  const number = useMemo(() => new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }), [locale]);
  const money = useMemo(
    () => (currency ? new Intl.NumberFormat(locale, { style: "currency", currency }) : number),
    [locale, currency, number],
  );
  const unit = useCallback(
    (slot: string) => (slot === "cpu" ? t`core-hours` : slot === "mem" ? t`GiB-hours` : t`device-hours`),
    [t],
  );
  return useMemo(
    () => ({
      unit,
      /** In cores, GiB or devices. */
      hours: (slot: string, amount: number) => number.format(amount / slotUnit(slot)),
      plain: (value: number) => number.format(value),
      cost: (value: number | null) => (value === null ? "–" : money.format(value)),
      energy: (kwh: number | null) => (kwh === null ? "–" : `${number.format(kwh)} kWh`),
      percent: (part: number | null) =>
        part === null
          ? "–"
          : new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 }).format(part),
      seconds: (value: number | null) =>
        value === null
          ? "–"
          : new Intl.NumberFormat(locale, {
              style: "unit",
              unit: value < 600 ? "second" : "minute",
              unitDisplay: "narrow",
              maximumFractionDigits: 0,
            }).format(value < 600 ? value : value / 60),
    }),
    [unit, number, money, locale],
  );
}

export type Amounts = ReturnType<typeof useAmounts>;
