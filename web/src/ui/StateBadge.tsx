import type { ReactNode } from "react";
import styles from "./StateBadge.module.css";
import { STATE_LOOKS, type StateLook } from "./state-looks";

interface Props {
  look: StateLook;
  /** The raw state, for tests and styles. */
  state?: string;
  /** The state in words. */
  children: ReactNode;
}

/** A state as a badge: words, colour and icon. */
export function StateBadge({ look, state, children }: Props) {
  const { tone, icon: Icon } = STATE_LOOKS[look];
  return (
    <span className={`${styles.badge} ${styles[tone]}`} data-state={state}>
      <Icon size={13} stroke={2.2} aria-hidden className={styles.icon} />
      <span className={styles.word}>{children}</span>
    </span>
  );
}

/** Whether something can be used, as a badge. */
export function ActiveBadge({ active, children }: { active: boolean; children: ReactNode }) {
  return <StateBadge look={active ? "ok" : "off"}>{children}</StateBadge>;
}
