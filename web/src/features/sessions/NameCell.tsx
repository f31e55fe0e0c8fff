import { useLingui } from "@lingui/react/macro";
import { Badge, Group, Tooltip } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { Session } from "@/api/types";
import { isRequested } from "@/queries/sessions";
import { RowLink } from "@/ui/table/RowLink";
import { rowName } from "./arrays";
import styles from "./cells.module.css";
import { OpenButton } from "./rows/OpenButton";
import { ACCESS_LEVELS } from "./sharing/words";
import { useWarningText } from "./warnings";

/** The name as a link, with a mark if the session needs attention. */
export function NameCell({ session, onOpen }: { session: Session; onOpen?: () => void }) {
  const { t, i18n } = useLingui();
  const warningText = useWarningText();
  return (
    <Group gap={6} wrap="nowrap" className={styles.nameCell}>
      <OpenButton session={session} />
      {isRequested(session.id) ? (
        <span className={styles.name}>{session.name}</span>
      ) : (
        <RowLink
          href={`/sessions?state=all&${session.array ? "array" : "session"}=${session.id}`}
          className={styles.name}
          title={rowName(session)}
          onOpen={onOpen}
        >
          {rowName(session)}
        </RowLink>
      )}
      {session.shared_as && (
        <Badge
          size="xs"
          variant="light"
          color="gray"
          tt="none"
          title={i18n._(ACCESS_LEVELS[session.shared_as].mine)}
          className={styles.badge}
        >
          {t`Shared`}
        </Badge>
      )}
      {session.cluster_size > 1 && (
        <span title={t`${session.cluster_size} containers`}>×{session.cluster_size}</span>
      )}
      {session.warnings.length > 0 && (
        <Tooltip label={session.warnings.map(warningText).join(" ")} multiline maw={320}>
          <IconAlertTriangle size={15} color="var(--carrel-busy)" role="img" aria-label={t`Warning`} />
        </Tooltip>
      )}
    </Group>
  );
}
