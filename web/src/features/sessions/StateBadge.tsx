import { useLingui } from "@lingui/react/macro";
import type { SessionState } from "@/api/types";
import styles from "@/ui/StateBadge.module.css";
import { STATE_LOOKS } from "./state-names";

/** The state of a session as a badge. */
export function StateBadge({ state }: { state: SessionState }) {
  const { i18n } = useLingui();
  const { label, tone, icon: Icon } = STATE_LOOKS[state];
  return (
    <span className={`${styles.badge} ${styles[tone]}`} data-state={state}>
      <Icon size={13} stroke={2.2} aria-hidden />
      {i18n._(label)}
    </span>
  );
}
