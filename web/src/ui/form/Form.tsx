import { Trans } from "@lingui/react/macro";
import { Button, Group, Stack, Text } from "@mantine/core";
import type { FormEvent, KeyboardEvent, ReactNode } from "react";
import { CommandLine } from "@/ui/CommandLine";
import { ProblemAlert } from "@/ui/ProblemAlert";

interface Props {
  /** The fields. */
  children: ReactNode;
  /** What `form.onSubmit(...)` of the form gave. */
  onSubmit: (event?: FormEvent<HTMLFormElement>) => void;
  /** What the main button says. */
  submit: ReactNode;
  onCancel?: () => void;
  busy: boolean;
  /** The server's last "no". */
  problem: unknown;
  /** The line that does the same on the command line. */
  command?: string;
}

/** A form: its fields, its command line, the server's "no", and its buttons. Ctrl+Enter sends it from any field. */
export function Form({ children, onSubmit, submit, onCancel, busy, problem, command }: Props) {
  const onKeyDown = (event: KeyboardEvent<HTMLFormElement>) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || busy) return;
    event.preventDefault();
    event.currentTarget.requestSubmit();
  };
  return (
    <form onSubmit={onSubmit} onKeyDown={onKeyDown} noValidate>
      <Stack gap="lg">
        {children}
        {command && (
          <Stack gap={4}>
            <Text size="sm" fw={500}>
              <Trans>The same on the command line</Trans>
            </Text>
            <CommandLine text={command} />
          </Stack>
        )}
        {problem != null && <ProblemAlert problem={problem} />}
        <Group justify="flex-end">
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              <Trans>Cancel</Trans>
            </Button>
          )}
          <Button type="submit" loading={busy}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
