import { Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./Dashboard.module.css";

interface Props {
  name: string;
  /** The figures as text. */
  figures: ReactNode;
  /** Fraction of the bar, 0 to 1; null without a limit. */
  part: number | null;
  color: string;
}

/** A name, its figures, and a bar if there is a limit. */
export function Meter({ name, figures, part, color }: Props) {
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={part === null ? 0 : 3}>
        <Text size="sm" fw={500}>
          {name}
        </Text>
        <Text size="sm" className={styles.figures}>
          {figures}
        </Text>
      </Group>
      {part !== null && (
        <div className={styles.meter} aria-hidden>
          <span style={{ width: `${Math.min(1, part) * 100}%`, background: color }} />
        </div>
      )}
    </div>
  );
}
