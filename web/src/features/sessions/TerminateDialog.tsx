import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Checkbox, Group, List, Progress, Stack, Text } from "@mantine/core";
import { Suspense, useState } from "react";
import type { Session } from "@/api/types";
import { useRemoveSession } from "@/queries/sessions";
import { part } from "@/routing/part";
import { CommandLine } from "@/ui/CommandLine";
import { commandLine } from "@/ui/command";
import { useUnsavedInput } from "@/ui/form/unsaved-input";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { rowName } from "./arrays";
import { type Ending, endingWords, given } from "./ending";

const EndingFields = part(() => import("./EndingFields").then((m) => m.EndingFields));

/** Confirms terminating sessions, and says what is lost. */
export function TerminateDialog({ sessions, onDone }: { sessions: Session[]; onDone: () => void }) {
  const { t } = useLingui();
  const [force, setForce] = useState(false);
  const [left, setLeft] = useState(sessions);
  const [problem, setProblem] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const remove = useRemoveSession();
  const [ending, setEnding] = useState<Ending>({ signal: null, grace_s: null });
  const [done, setDone] = useState(0);
  useUnsavedInput(() => !force && !busy && endingWords(ending).length > 0);
  const started = left.some((session) => session.started_at !== null);

  const go = async () => {
    setBusy(true);
    setProblem(null);
    setDone(0);
    const how = force ? {} : given(ending);
    const results = await Promise.allSettled(
      left.map(({ id, array }) =>
        remove
          .mutateAsync({ id, force, array: array !== null, ...how })
          .finally(() => setDone((count) => count + 1)),
      ),
    );
    const failed = left.filter((_, index) => results[index]?.status === "rejected");
    const firstFailure = results.find((result) => result.status === "rejected");
    setBusy(false);
    if (!firstFailure) return onDone();
    // Terminated sessions stay terminated; keep only the failed ones to retry.
    setLeft(failed);
    setProblem(firstFailure.reason);
  };

  return (
    <Stack>
      <Text size="sm">
        <Plural
          value={left.length}
          one="This session is terminated:"
          other="These # sessions are terminated:"
        />
      </Text>
      <List size="sm" mah={180} style={{ overflow: "auto" }}>
        {left.map((session) => (
          <List.Item key={session.id}>
            <b>{rowName(session)}</b>{" "}
            <Text span c="dimmed" size="xs">{`${session.id} · ${session.image_name ?? session.image}`}</Text>
          </List.Item>
        ))}
      </List>
      <Text size="sm">
        {started ? (
          <Trans>
            All programs in it stop, and files outside mounted folders are deleted. This cannot be undone.
            Logs and history are kept.
          </Trans>
        ) : (
          <Trans>It has not started yet. Only its place in the queue is lost.</Trans>
        )}
      </Text>
      <Checkbox
        checked={force}
        onChange={(event) => setForce(event.currentTarget.checked)}
        label={t`Force: end it now, without waiting for programs or the engine`}
        description={t`Use this only if normal termination does not work.`}
      />
      {started && !force && (
        <Suspense fallback={null}>
          <EndingFields values={ending} onChange={setEnding} />
        </Suspense>
      )}
      {force && (
        <Alert color="red" variant="light" p="xs">
          <Trans>
            Programs are killed and cannot save their work. Containers may remain until the engine confirms
            that they are gone; their resources stay allocated until then.
          </Trans>
        </Alert>
      )}
      <CommandLine
        text={commandLine(
          "carrel",
          "session",
          "rm",
          ...left.map(({ id, array }) => array?.name ?? id),
          ...(force ? ["--force"] : endingWords(ending)),
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
        <Button variant="default" onClick={onDone} data-autofocus>
          <Trans>Keep</Trans>
        </Button>
        <Button color="red" loading={busy} onClick={go}>
          {force ? <Trans>Kill now</Trans> : <Trans>Terminate</Trans>}
        </Button>
      </Group>
    </Stack>
  );
}
