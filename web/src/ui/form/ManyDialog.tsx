import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, List, Progress, Stack, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useProblemText } from "@/sentences/use-problem-text";
import { CommandLine } from "@/ui/CommandLine";

interface Item {
  id: string;
  name: string;
}

interface Failure {
  item: Item;
  problem: unknown;
}

interface Props {
  items: Item[];
  /** The consequences and options. */
  children: ReactNode;
  confirm: string;
  /** The equivalent CLI command. */
  command?: string;
  dangerous?: boolean;
  /** The required options are set. */
  ready?: boolean;
  act: (item: Item) => Promise<unknown>;
  onDone: () => void;
}

/** Applies an action to several items, one after another, with progress, and lists the failed ones. */
export function ManyDialog({
  items,
  children,
  confirm,
  command,
  dangerous,
  ready = true,
  act,
  onDone,
}: Props) {
  const { t } = useLingui();
  const problemText = useProblemText();
  const [left, setLeft] = useState(items);
  const [done, setDone] = useState<number | null>(null);
  const [failures, setFailures] = useState<Failure[]>([]);

  const go = async () => {
    const failed: Failure[] = [];
    setFailures([]);
    for (const [at, item] of left.entries()) {
      setDone(at);
      try {
        await act(item);
      } catch (problem) {
        failed.push({ item, problem });
      }
    }
    setDone(null);
    if (failed.length === 0) return onDone();
    // Completed items stay done; keep only the failed ones to retry.
    setLeft(failed.map(({ item }) => item));
    setFailures(failed);
  };

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (ready && done === null) void go();
      }}
    >
      <Stack>
        {children}
        {left.length > 1 && failures.length === 0 && (
          <List size="sm" mah={160} style={{ overflow: "auto" }}>
            {left.map(({ id, name }) => (
              <List.Item key={id}>{name}</List.Item>
            ))}
          </List>
        )}
        {done !== null && left.length > 1 && (
          <Stack gap={4} aria-live="polite">
            <Progress value={(100 * done) / left.length} aria-label={t`Progress`} />
            <Text size="xs" c="dimmed">
              <Trans>
                {done} of {left.length} done
              </Trans>
            </Text>
          </Stack>
        )}
        {failures.length > 0 && (
          <Stack gap={4} role="alert">
            <Text size="sm" fw={600} c="var(--carrel-bad)">
              <Trans>Failed:</Trans>
            </Text>
            <List size="sm" mah={200} style={{ overflow: "auto" }}>
              {failures.map(({ item, problem }) => (
                <List.Item key={item.id}>
                  <b>{item.name}</b>: {problemText(problem).detail}
                </List.Item>
              ))}
            </List>
          </Stack>
        )}
        {command && failures.length === 0 && <CommandLine text={command} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone} disabled={done !== null} data-autofocus>
            {failures.length > 0 ? <Trans>Close</Trans> : <Trans>Cancel</Trans>}
          </Button>
          <Button
            type="submit"
            color={dangerous ? "red" : undefined}
            disabled={!ready}
            loading={done !== null}
          >
            {failures.length > 0 ? <Trans>Try again</Trans> : confirm}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
