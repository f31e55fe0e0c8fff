import { useLingui } from "@lingui/react/macro";
import { Group, Tooltip } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { Session } from "@/api/types";
import styles from "./cells.module.css";
import { useWarningText } from "./warnings";

/** The name, with a mark if the session needs attention. */
export function NameCell({ session }: { session: Session }) {
  const { t } = useLingui();
  const warningText = useWarningText();
  return (
    <Group gap={6} wrap="nowrap" className={styles.nameCell}>
      <span className={styles.name} title={session.name}>
        {session.name}
      </span>
      {session.warnings.length > 0 && (
        <Tooltip label={session.warnings.map(warningText).join(" ")} multiline maw={320}>
          <IconAlertTriangle size={15} color="var(--carrel-busy)" role="img" aria-label={t`Warning`} />
        </Tooltip>
      )}
    </Group>
  );
}
