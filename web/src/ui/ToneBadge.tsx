import type { ReactNode } from "react";
import styles from "./StateBadge.module.css";

interface Props {
  tone: "good" | "busy" | "bad" | "quiet";
  children: ReactNode;
}

/** A text badge on a coloured background. */
export function ToneBadge({ tone, children }: Props) {
  return (
    <span className={`${styles.badge} ${styles[tone]}`} style={{ paddingInlineStart: "0.5rem" }}>
      {children}
    </span>
  );
}
