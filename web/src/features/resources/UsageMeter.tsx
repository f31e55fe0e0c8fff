import styles from "./LoadBar.module.css";

interface Props {
  label: string;
  figures: string;
  /** What a screen reader says of the bar. */
  text: string;
  /** Above 100 the bar is full. */
  percent: number;
  color: string;
  title?: string;
}

/** Figures with a bar below. */
export function UsageMeter({ label, figures, text, percent, color, title }: Props) {
  return (
    <div className={styles.load} title={title}>
      <span className={styles.figures}>{figures}</span>
      {/* biome-ignore lint/a11y/useSemanticElements: browsers do not let pages style a meter element */}
      <div
        className={styles.track}
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.min(100, percent)}
        aria-valuetext={text}
      >
        <div className={styles.fill} style={{ width: `${Math.min(100, percent)}%`, background: color }} />
      </div>
    </div>
  );
}
