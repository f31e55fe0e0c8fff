import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Text } from "@mantine/core";
import { IconAlertTriangle, IconBan, IconCircleCheck, IconHourglass, IconLoader2 } from "@tabler/icons-react";
import type { Change, Check } from "@/api/types";
import { EndOwnButton } from "@/features/sessions/why/EndOwnButton";
import { useChangeText } from "@/features/sessions/why/use-change-text";
import { useReason } from "@/features/sessions/why/use-reason";
import { formatInstant } from "@/ui/format";
import styles from "./VerdictLine.module.css";

interface Props {
  check: Check;
  /** An error found by the page itself; it precedes the server's. */
  fault: string | null;
  /** The check is of the form as it is now. */
  settled: boolean;
  onApply: (change: Change) => void;
}

const LOOKS = {
  starts: { icon: IconCircleCheck, className: styles.starts },
  waits: { icon: IconHourglass, className: styles.waits },
  never: { icon: IconBan, className: styles.never },
} as const;

/** The estimate for the current request, and the cheapest change that would start it. */
export function VerdictLine({ check, fault, settled, onApply }: Props) {
  const { i18n } = useLingui();
  const reason = useReason();
  const changeText = useChangeText();
  const verdict = fault ? "never" : check.verdict;
  if (!fault && !settled) return <Checking />;
  const { icon: Icon, className } = LOOKS[verdict];
  const said = fault ?? reason(check.reason, check.code);
  const [change] = verdict === "waits" ? check.changes : [];
  const start = verdict === "waits" && check.expected_start;
  return (
    <div className={`${styles.line} ${className}`} role="status" data-verdict={verdict}>
      <Icon size={17} aria-hidden className={styles.icon} />
      <div style={{ minWidth: 0 }}>
        <Text size="sm" component="div">
          {verdict === "starts" &&
            (check.starts_in && check.starts_in.id !== check.group.id ? (
              <Trans>Starts now, in {check.starts_in.name}.</Trans>
            ) : (
              <Trans>Starts now.</Trans>
            ))}
          {verdict === "waits" && (
            <Trans>
              Starts later: queue position {check.position ?? 1}. {said}
            </Trans>
          )}
          {verdict === "never" && <Trans>Cannot start: {said}</Trans>}
        </Text>
        {start && (
          <Text size="xs">
            <Trans>Estimated start: {formatInstant(start, i18n.locale)}.</Trans>
          </Text>
        )}
        {verdict === "waits" && check.no_estimate && <Text size="xs">{reason(check.no_estimate)}</Text>}
        {check.warnings.map(({ code, message, hint }) => (
          <Text key={message} size="xs" data-warning={code}>
            <IconAlertTriangle size={13} aria-hidden style={{ verticalAlign: "-2px" }} />{" "}
            <Trans>Warning: {`${message} ${hint}`}</Trans>
          </Text>
        ))}
        {change && (
          <Group gap="xs" mt={4}>
            <Text size="xs">
              <Trans>Fits now:</Trans>
            </Text>
            {change.kind === "end_own" ? (
              <EndOwnButton ids={change.sessions} />
            ) : (
              <Button size="compact-xs" variant="default" onClick={() => onApply(change)}>
                {changeText(change)?.replace(/[.。]$/, "")}
              </Button>
            )}
          </Group>
        )}
      </div>
    </div>
  );
}

/** Stands for the estimate of an earlier form, which may be wrong for this one. */
function Checking() {
  return (
    <div className={styles.line} role="status" aria-busy data-verdict="unknown">
      <IconLoader2 size={17} aria-hidden className={styles.icon} />
      <Text size="sm" c="dimmed">
        <Trans>Checking…</Trans>
      </Text>
    </div>
  );
}
