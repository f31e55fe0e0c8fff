import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, List, NumberInput, Progress, Stack, Text } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { Session } from "@/api/types";
import { usePrioritiseSession } from "@/queries/sessions";
import { CommandLine } from "@/ui/CommandLine";
import { commandLine } from "@/ui/command";
import { useUnsavedInput } from "@/ui/form/unsaved-input";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { rowName } from "./arrays";

/** Changes the priority of pending sessions, and of the pending ones of arrays. */
export function PriorityDialog({ sessions, onDone }: { sessions: Session[]; onDone: () => void }) {
  const { t } = useLingui();
  const [left, setLeft] = useState(sessions);
  const before = sessions[0]?.priority ?? 50;
  const [priority, setPriority] = useState<number | string>(before);
  const [problem, setProblem] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState(0);
  const change = usePrioritiseSession();
  useUnsavedInput(() => priority !== before && !busy);
  const outside = priority === "" || Number(priority) < 0 || Number(priority) > 100;

  const go = async (event: FormEvent) => {
    event.preventDefault();
    if (outside || busy) return;
    setBusy(true);
    setProblem(null);
    setDone(0);
    const results = await Promise.allSettled(
      left.map(({ id, array }) =>
        change
          .mutateAsync({ id, priority: Number(priority), array: array !== null })
          .finally(() => setDone((count) => count + 1)),
      ),
    );
    const failure = results.find((result) => result.status === "rejected");
    setBusy(false);
    if (!failure) return onDone();
    // The others are changed; keep only the failed ones to retry.
    setLeft(left.filter((_, index) => results[index]?.status === "rejected"));
    setProblem(failure.reason);
  };

  return (
    <form onSubmit={go}>
      <Stack>
        <Text size="sm">
          <Plural
            value={left.length}
            one="The priority of this pending session changes:"
            other="The priority of these # pending sessions changes:"
          />
        </Text>
        <List size="sm" mah={180} style={{ overflow: "auto" }}>
          {left.map((session) => (
            <List.Item key={session.id}>
              <b>{rowName(session)}</b>{" "}
              <Text span c="dimmed" size="xs">
                {session.priority}
              </Text>
            </List.Item>
          ))}
        </List>
        <NumberInput
          w={140}
          label={t`Priority`}
          description={t`Highest first`}
          min={0}
          max={100}
          clampBehavior="none"
          allowDecimal={false}
          value={priority}
          error={outside && t`0 to 100`}
          onChange={setPriority}
          data-autofocus
        />
        <CommandLine
          text={commandLine(
            "carrel",
            "session",
            "priority",
            ...left.map(({ id, array }) => array?.name ?? id),
            String(priority),
          )}
        />
        {busy && left.length > 1 && (
          <Progress.Root size="lg" aria-label={t`Progress`}>
            <Progress.Section value={(done / left.length) * 100} aria-label={t`Progress`}>
              <Progress.Label>{`${done} / ${left.length}`}</Progress.Label>
            </Progress.Section>
          </Progress.Root>
        )}
        {problem != null && <ProblemAlert problem={problem} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            <Trans>Cancel</Trans>
          </Button>
          <Button type="submit" loading={busy} disabled={outside}>
            <Trans>Change priority</Trans>
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
