import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import type { Queue } from "@/api/types";

/** How a group orders sessions of equal priority. */
export function useOrderText(): (order: Queue["scheduler"]) => string {
  const { t } = useLingui();
  return useCallback(
    (order) =>
      ({
        fifo: t`oldest first.`,
        lifo: t`newest first.`,
        drf: t`smallest dominant share first.`,
        fair_share: t`lowest usage relative to weight first.`,
      })[order],
    [t],
  );
}
