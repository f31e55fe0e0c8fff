import { useLingui } from "@lingui/react/macro";
import { slotAmount, slotColor, useSlotName } from "@/ui/slots";
import styles from "./LoadBar.module.css";
import { share } from "./load";
import { UsageMeter } from "./UsageMeter";

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
    <UsageMeter
      label={what}
      figures={name ? t`${what}: ${held} of ${whole}` : t`${held} of ${whole}`}
      text={t`${held} of ${whole}, ${percent}%`}
      percent={percent}
      color={slotColor(slot)}
      title={t`${what}: ${held} of ${whole} allocated, ${percent}%`}
    />
  );
}
