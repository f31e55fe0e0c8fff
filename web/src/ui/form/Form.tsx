import { Trans } from "@lingui/react/macro";
import { Button, Group, Stack, Text, Tooltip } from "@mantine/core";
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
  /** Something must be done first, which the fields say. */
  blocked?: boolean;
  /** The server's last "no". */
  problem: unknown;
  /** The line that does the same on the command line. */
  command?: string;
  /** Said right above the buttons. */
  notice?: ReactNode;
  /** Why it cannot be sent; null or absent when it can. */
  refusal?: string | null;
}

/** A form: its fields, its command line, the server's "no", and its buttons. Ctrl+Enter sends it from any field. */
export function Form({
  children,
  onSubmit,
  submit,
  onCancel,
  busy,
  blocked,
  problem,
  command,
  notice,
  refusal,
}: Props) {
  const onKeyDown = (event: KeyboardEvent<HTMLFormElement>) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || busy) return;
    event.preventDefault();
    event.currentTarget.requestSubmit();
  };
  const send = (event: FormEvent<HTMLFormElement>) => {
    if (!refusal) return onSubmit(event);
    event.preventDefault();
  };
  return (
    <form onSubmit={send} onKeyDown={onKeyDown} noValidate>
      <Stack gap="lg">
        {children}
        {command && (
          <Stack gap={4}>
            <Text size="sm" fw={500}>
              <Trans>Equivalent command</Trans>
            </Text>
            <CommandLine text={command} />
          </Stack>
        )}
        {problem != null && <ProblemAlert problem={problem} />}
        {notice}
        <Group justify="flex-end">
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              <Trans>Cancel</Trans>
            </Button>
          )}
          <Tooltip label={refusal} disabled={!refusal} multiline maw={280}>
            <Button
              type="submit"
              loading={busy}
              disabled={blocked}
              aria-disabled={refusal ? true : undefined}
              aria-description={refusal ?? undefined}
              data-disabled={refusal ? true : undefined}
            >
              {submit}
            </Button>
          </Tooltip>
        </Group>
      </Stack>
    </form>
  );
}
