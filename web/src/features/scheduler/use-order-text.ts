import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import type { Queue } from "@/api/types";

/** How a group orders those of equal priority. */
export function useOrderText(): (order: Queue["scheduler"]) => string {
  const { t } = useLingui();
  return useCallback(
    (order) =>
      ({
        fifo: t`who has waited longest.`,
        lifo: t`who came last.`,
        drf: t`whose greatest share of any slot is the smallest now.`,
        fair_share: t`who has had least for their weight.`,
      })[order],
    [t],
  );
}
