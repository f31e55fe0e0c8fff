import { useLingui } from "@lingui/react/macro";
import { slotAmount, slotColor, useSlotName } from "@/ui/slots";
import styles from "./LoadBar.module.css";
import { share } from "./load";

interface Props {
  slot: string;
  used: number;
  /** Capacity or limit; null: unlimited, shown without a bar. */
  offered: number | null;
  /** Label before the figures; absent if the context shows it. */
  name?: string;
}

/** The usage of a slot: "2 of 8", and a bar. */
export function LoadBar({ slot, used, offered, name }: Props) {
  const { t } = useLingui();
  const known = useSlotName()(slot);
  const what = name ?? known;
  const held = slotAmount(slot, used);
  if (offered === null) {
    return (
      <span className={styles.figures} title={t`${what}: ${held} allocated, no limit`}>
        {name ? t`${what}: ${held}` : held}
      </span>
    );
  }
  const whole = slotAmount(slot, offered);
  if (offered === 0 && used === 0) return name ? t`${what}: none` : "–";
  const percent = Math.round(share(used, offered) * 100);
  return (
    <div className={styles.load} title={t`${what}: ${held} of ${whole} allocated, ${percent} %`}>
      <span className={styles.figures}>
        {name ? t`${what}: ${held} of ${whole}` : t`${held} of ${whole}`}
      </span>
      {/* biome-ignore lint/a11y/useSemanticElements: browsers do not let pages style a meter element */}
      <div
        className={styles.track}
        role="meter"
        aria-label={what}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.min(100, percent)}
        aria-valuetext={t`${held} of ${whole}, ${percent} %`}
      >
        <div
          className={styles.fill}
          style={{ width: `${Math.min(100, percent)}%`, background: slotColor(slot) }}
        />
      </div>
    </div>
  );
}
