import { useLingui } from "@lingui/react/macro";
import { Group, Text, Tooltip } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { Session } from "@/api/types";
import { ProgressLine } from "./ProgressLine";
import styles from "./SessionTable.module.css";

/** The name, and whatever a person should know about the session at a glance. */
export function NameCell({ session }: { session: Session }) {
  const { t } = useLingui();
  const why = session.state === "ERROR" ? session.reason : null;
  return (
    <div className={styles.nameCell}>
      <Group gap={6} wrap="nowrap">
        <span className={styles.name}>{session.name}</span>
        {(session.warnings?.length ?? 0) > 0 && (
          <Tooltip label={session.warnings?.join(" ")} multiline maw={320}>
            <IconAlertTriangle size={15} color="var(--carrel-busy)" role="img" aria-label={t`Warning`} />
          </Tooltip>
        )}
      </Group>
      {why && (
        <Text size="xs" c="var(--carrel-bad)" truncate title={why}>
          {why}
        </Text>
      )}
      <ProgressLine session={session} />
    </div>
  );
}
