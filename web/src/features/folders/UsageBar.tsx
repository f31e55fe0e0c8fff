import { useLingui } from "@lingui/react/macro";
import { VisuallyHidden } from "@mantine/core";
import type { Quota, StorageHost } from "@/api/types";
import { formatSize } from "@/ui/format";
import styles from "./UsageStrip.module.css";
import { USAGE_LEVELS } from "./words";

interface Props {
  used: number;
  /** null: unlimited. */
  most: number | null;
  level: Quota["level"] | StorageHost["level"];
  /** Text after the figures. */
  more?: string;
}

/** Used space of a quota: figures, and a bar in the colour of its level. */
export function UsageBar({ used, most, level, more }: Props) {
  const { t, i18n } = useLingui();
  const amount =
    most === null ? t`${formatSize(used)}, not limited` : t`${formatSize(used)} of ${formatSize(most)}`;
  const label = more ? `${amount} · ${more}` : amount;
  const percent = most ? Math.min(100, (100 * used) / most) : most === 0 ? 100 : 0;
  return (
    <>
      <span className={styles.figures} title={label}>
        {label}
        <VisuallyHidden>, {i18n._(USAGE_LEVELS[level].title)}</VisuallyHidden>
      </span>
      <div className={styles.track} aria-hidden>
        <div className={styles.fill} data-level={level} style={{ width: `${percent}%` }} />
      </div>
    </>
  );
}
