import { Trans } from "@lingui/react/macro";
import { Button, Group, Stack, Text, Tooltip } from "@mantine/core";
import { type FormEvent, type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";
import { CommandLine } from "@/ui/CommandLine";
import { ProblemAlert } from "@/ui/ProblemAlert";
import styles from "./Form.module.css";

interface Props {
  children: ReactNode;
  /** The result of `form.onSubmit(...)`. */
  onSubmit: (event?: FormEvent<HTMLFormElement>) => void;
  /** Further buttons, before the submit button. */
  extra?: ReactNode;
  /** Label of the submit button. */
  submit: ReactNode;
  onCancel?: () => void;
  busy: boolean;
  /** Disables the submit button; the fields show why. */
  blocked?: boolean;
  /** The last error response. */
  problem: unknown;
  /** The equivalent CLI command. */
  command?: string;
  /** Shown above the buttons. */
  notice?: ReactNode;
  /** Why submitting is refused; null or absent if it is allowed. */
  refusal?: string | null;
}

/** A form: fields, CLI command, error and buttons. Ctrl+Enter submits it. An error scrolls into view. */
export function Form({
  children,
  onSubmit,
  extra,
  submit,
  onCancel,
  busy,
  blocked,
  problem,
  command,
  notice,
  refusal,
}: Props) {
  const footer = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (problem != null) footer.current?.scrollIntoView?.({ block: "nearest" });
  }, [problem]);
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
    <form className={styles.form} onSubmit={send} onKeyDown={onKeyDown} noValidate>
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
        <Stack ref={footer} gap="sm" className={styles.footer}>
          {problem != null && <ProblemAlert problem={problem} />}
          {notice}
          <Group justify="flex-end">
            {onCancel && (
              <Button variant="default" onClick={onCancel}>
                <Trans>Cancel</Trans>
              </Button>
            )}
            {extra}
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
      </Stack>
    </form>
  );
}
