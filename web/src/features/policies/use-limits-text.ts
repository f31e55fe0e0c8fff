import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import type { PolicyKind } from "@/api/types";
import { formatDuration, formatSize } from "@/ui/format";
import { inSlotOrder, slotText, useSlotName } from "@/ui/slots";
import { MEASURES } from "./IdleUseInput";
import { LIMIT_TITLES, RIGHTS } from "./limit-words";
import {
  isRights,
  isUse,
  type LimitName,
  type Limits,
  limitsOf,
  type Measure,
  type Most,
  UNLIMITED,
} from "./limits";

/** Formats one limit, and all limits of a policy in one line. */
export function useLimitsText() {
  const { t, i18n } = useLingui();
  const slotName = useSlotName();
  const one = useCallback(
    (measure: Measure, most: Limits[LimitName]): string => {
      if (most === undefined || most === UNLIMITED) return t`not limited`;
      if (isRights(most)) return i18n._(RIGHTS[most]);
      if (Array.isArray(most)) return most.join(", ") || t`none`;
      if (isUse(most)) {
        const below = MEASURES.filter(([measure]) => measure in most.below)
          .map(([measure, name]) => `${i18n._(name)} < ${most.below[measure]}%`)
          .join(", ");
        const window = formatDuration(most.window_s * 1000, i18n.locale);
        return t`${below} for ${window}`;
      }
      if (typeof most === "object") {
        const amounts = inSlotOrder(Object.keys(most)).map((slot) => {
          const amount = (most as Record<string, Most>)[slot];
          if (amount !== UNLIMITED && slot !== "*") return slotText(slot, amount ?? 0);
          return amount === UNLIMITED
            ? t`${slotName(slot)}: not limited`
            : t`${slotName(slot)}: ${amount ?? 0}`;
        });
        if (!("*" in most)) amounts.push(t`nothing else`);
        return amounts.join(" · ");
      }
      if (measure === "duration") return formatDuration(most * 1000, i18n.locale);
      return measure === "bytes" ? formatSize(most) : String(most);
    },
    [t, i18n, slotName],
  );
  const short = useCallback(
    (kind: PolicyKind, limits: Limits): string => {
      const parts = limitsOf(kind)
        .filter(([name]) => isLimited(limits[name]))
        .map(([name, measure]) =>
          name === "slots"
            ? one(measure, limits[name])
            : `${i18n._(LIMIT_TITLES[name])}: ${one(measure, limits[name])}`,
        );
      return parts.join(" · ") || t`not limited`;
    },
    [t, i18n, one],
  );
  return { one, short };
}

/** Whether the value is an effective limit. */
function isLimited(most: Limits[LimitName]): boolean {
  if (Array.isArray(most)) return true;
  // Plain is what sessions have anyway.
  if (isRights(most)) return most === "root";
  if (isUse(most)) return true;
  if (typeof most !== "object") return most !== undefined && most !== UNLIMITED;
  return !("*" in most) || Object.values(most).some((amount) => amount !== UNLIMITED);
}
