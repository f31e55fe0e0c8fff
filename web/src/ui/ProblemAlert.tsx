import { Trans } from "@lingui/react/macro";
import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { Problem, toProblem } from "@/api/problem";

interface Props {
  problem: unknown;
  onRetry?: () => void;
}

/** What went wrong, the next step, and the code to quote when asking for help. */
export function ProblemAlert({ problem: thrown, onRetry }: Props) {
  const problem = thrown instanceof Problem ? thrown : toProblem(thrown);
  const away = problem.code === "server.unreachable";
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
          {away ? <Trans>The server does not answer.</Trans> : problem.message}
        </Text>
        {away && (
          <Text size="sm">
            <Trans>Check the network, or whether the server is being restarted, and try again.</Trans>
          </Text>
        )}
        {problem.hint && <Text size="sm">{problem.hint}</Text>}
        <Group gap="xs">
          <Code>{problem.code}</Code>
          {problem.requestId && (
            <Text size="xs" c="dimmed">
              <Trans>Request {problem.requestId}</Trans>
            </Text>
          )}
        </Group>
        {onRetry && (
          <Button size="xs" variant="default" mt={4} onClick={onRetry}>
            <Trans>Try again</Trans>
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
