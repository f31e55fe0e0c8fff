import { Trans } from "@lingui/react/macro";
import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { toProblem } from "@/api/problem";
import { useProblemText } from "@/sentences/use-problem-text";

interface Props {
  problem: unknown;
  /** Shows "Try again" if a retry may help. */
  onRetry?: () => void;
  /** The messages are translated already. */
  spoken?: boolean;
}

/** An error message with the next step, and its code for support requests. */
export function ProblemAlert({ problem: thrown, onRetry, spoken = false }: Props) {
  const problem = toProblem(thrown);
  const text = useProblemText()(thrown);
  const { detail, hint } = spoken ? { detail: problem.message, hint: problem.hint } : text;
  return (
    <Alert
      color="red"
      variant="light"
      icon={<IconAlertTriangle size={18} aria-hidden />}
      role="alert"
      styles={{ root: { background: "var(--carrel-bad-ground)" }, icon: { color: "var(--carrel-bad)" } }}
    >
      <Stack gap={4} align="flex-start">
        <Text size="sm" fw={600} c="var(--carrel-ink)">
          {detail}
        </Text>
        {hint && <Text size="sm">{hint}</Text>}
        <Group gap="xs">
          <Code>{problem.code}</Code>
          {problem.requestId && (
            <Text size="xs" c="dimmed">
              <Trans>Request {problem.requestId}</Trans>
            </Text>
          )}
        </Group>
        {onRetry && problem.temporary && (
          <Button size="xs" variant="default" mt={4} onClick={onRetry}>
            <Trans>Try again</Trans>
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
