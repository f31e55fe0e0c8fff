import { Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Limit } from "@/api/types";
import { slotText } from "@/ui/slots";
import { useLabel } from "./use-label";
import styles from "./Why.module.css";

/** An exceeded ceiling: current usage and the requested amount. */
export function LimitBar({ limit }: { limit: Limit }) {
  const { t } = useLingui();
  const whose = useLabel()(limit.label);
  const { slot, ceiling, used, asked } = limit;
  const say = (amount: number) => (slot === "sessions" ? t`${amount} session(s)` : slotText(slot, amount));
  // The scale also fits the part above the ceiling.
  const scale = Math.max(ceiling, used + asked, 1);
  const part = (amount: number) => `${(Math.min(amount, scale) / scale) * 100}%`;
  return (
    <div>
      <Text size="xs">
        <b>{whose}</b>:{" "}
        <Trans>
          {say(used)} of {say(ceiling)} used, {say(asked)} requested.
        </Trans>
      </Text>
      <div className={styles.bar} aria-hidden>
        <span className={styles.used} style={{ width: part(used) }} />
        <span className={styles.asked} style={{ width: part(asked) }} />
        <i className={styles.ceiling} style={{ left: part(ceiling) }} />
      </div>
    </div>
  );
}
