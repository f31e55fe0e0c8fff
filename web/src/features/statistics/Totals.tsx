import { Trans, useLingui } from "@lingui/react/macro";
import { Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import type { StatisticsView } from "@/api/generated/types.gen";
import panel from "@/ui/Panel.module.css";
import { inSlotOrder, slotAmount, useSlotName } from "@/ui/slots";
import type { Amounts } from "./amounts";
import styles from "./Statistics.module.css";

/** The figures of all rows together: sessions, waiting times, each slot, and cost. */
export function Totals({ view, amounts }: { view: StatisticsView; amounts: Amounts }) {
  const { t } = useLingui();
  const slotName = useSlotName();
  const { total } = view;
  return (
    <section aria-label={t`Total`} className={styles.cards}>
      <Figure title={t`Sessions`} value={t`${amounts.plain(total.session_hours)} hours`}>
        <Trans>
          {total.waits.sessions} started, at most {amounts.plain(total.session_peak)} at once
        </Trans>
      </Figure>
      <Figure title={t`Median wait`} value={amounts.seconds(total.waits.p50_s)}>
        <Trans>
          90% within {amounts.seconds(total.waits.p90_s)}, 99% within {amounts.seconds(total.waits.p99_s)}
        </Trans>
      </Figure>
      {inSlotOrder(Object.keys(total.slots)).map((slot) => {
        const of = total.slots[slot];
        if (!of) return null;
        const peak = slotAmount(slot, Math.round(of.peak));
        return (
          <Figure
            key={slot}
            title={slotName(slot)}
            value={`${amounts.hours(slot, of.held)} ${amounts.unit(slot)}`}
          >
            {of.utilisation === null ? (
              <Trans>peak {peak}, use not measured</Trans>
            ) : (
              <Trans>
                peak {peak}, {amounts.percent(of.utilisation)} used, {amounts.hours(slot, of.unused)} unused
              </Trans>
            )}
          </Figure>
        );
      })}
      {total.energy_kwh !== null && (
        <Figure title={t`Energy of accelerators`} value={amounts.energy(total.energy_kwh)}>
          <Trans>while their power was measured</Trans>
        </Figure>
      )}
      {total.cost !== null && <Figure title={t`Cost`} value={amounts.cost(total.cost)} />}
    </section>
  );
}

function Figure({ title, value, children }: { title: string; value: string; children?: ReactNode }) {
  return (
    <div className={panel.panel}>
      <Title order={2} size="h6">
        {title}
      </Title>
      <Text size="lg" fw={600} className={styles.number}>
        {value}
      </Text>
      <Text size="xs" c="dimmed">
        {children}
      </Text>
    </div>
  );
}
