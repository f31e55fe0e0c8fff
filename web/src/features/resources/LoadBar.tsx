import { useLingui } from "@lingui/react/macro";
import { slotAmount, slotColor, useSlotName } from "@/ui/slots";
import styles from "./LoadBar.module.css";
import { share } from "./load";

interface Props {
  slot: string;
  used: number;
  /** Capacity. */
  offered: number;
  /** Label before the figures; absent if the context shows it. */
  name?: string;
}

/** The usage of a slot: "2 of 8", and a bar. */
export function LoadBar({ slot, used, offered, name }: Props) {
  const { t } = useLingui();
  const known = useSlotName()(slot);
  const what = name ?? known;
  const [held, whole] = [slotAmount(slot, used), slotAmount(slot, offered)];
  if (offered === 0 && used === 0) return name ? t`${what}: none` : "–";
  const percent = Math.round(share(used, offered) * 100);
  return (
    <div className={styles.load} title={t`${what}: ${held} of ${whole} allocated, ${percent} %`}>
      <span className={styles.figures}>
        {name ? t`${what}: ${held} of ${whole}` : t`${held} of ${whole}`}
      </span>
      <div className={styles.track} aria-hidden>
        <div
          className={styles.fill}
          style={{ width: `${Math.min(100, percent)}%`, background: slotColor(slot) }}
        />
      </div>
    </div>
  );
}
