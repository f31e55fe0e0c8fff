import { Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./Dashboard.module.css";

interface Props {
  name: string;
  /** The figures, in words. */
  figures: ReactNode;
  /** How full it is drawn, 0 to 1; null without a limit. */
  part: number | null;
  color: string;
}

/** A name, its figures, and a bar where there is something that it can be full of. */
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
