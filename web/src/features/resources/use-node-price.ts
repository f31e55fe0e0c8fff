import { useLingui } from "@lingui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Node } from "@/api/types";
import { siteShowQuery } from "@/queries/site";
import { writing } from "@/ui/format";
import { slotUnit } from "@/ui/slots";

/** The price of an hour of all that a node offers, as text; null without prices. */
export function useNodePrice(node: Node, enabled: boolean): string | null {
  const { i18n } = useLingui();
  const site = useQuery({ ...siteShowQuery, enabled }).data;
  return useMemo(() => {
    const given = (site?.slot_prices ?? {}) as Record<string, number>;
    const prices = Object.entries(given).filter(([slot]) => node.offered[slot]);
    if (!site || prices.length === 0) return null;
    const price = prices.reduce(
      (sum, [slot, each]) => sum + (each * (node.offered[slot] ?? 0)) / slotUnit(slot),
      0,
    );
    const money = new Intl.NumberFormat(writing(i18n.locale), { style: "currency", currency: site.currency });
    return money.format(price);
  }, [site, node.offered, i18n.locale]);
}
