import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Input, Progress, Stack, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { type DryRunRules, type DryRunSoFar, dryRun } from "@/queries/policies";
import { CommandLine } from "@/ui/CommandLine";
import { commandLine } from "@/ui/command";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { DryRunTable } from "./DryRunTable";
import { type Limits, limitWords, UNLIMITED } from "./limits";

interface Props {
  /** The policy whose sessions are meant; absent: all sessions. */
  policy: string | undefined;
  limits: Limits;
  isComplete: boolean;
}

type Run = { of: string; soFar?: DryRunSoFar; done?: boolean; problem?: unknown };

/** Tries the idle rules of the form on the sessions of the last month. */
export function IdleDryRun({ policy, limits, isComplete }: Props) {
  const { t } = useLingui();
  const { idle_timeout_s, idle_use } = limits;
  const rules = { policy, idle_timeout_s, idle_use } as DryRunRules;
  const key = JSON.stringify(rules);
  const [run, setRun] = useState<Run>();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const start = async () => {
    stop.current?.abort();
    stop.current = new AbortController();
    const { signal } = stop.current;
    const show = (next: Omit<Run, "of">) => !signal.aborted && setRun({ of: key, ...next });
    setRun({ of: key });
    try {
      show({ soFar: await dryRun(rules, (soFar) => show({ soFar }), signal), done: true });
    } catch (problem) {
      show({ problem });
    }
  };
  const cancel = () => {
    stop.current?.abort();
    setRun(undefined);
  };
  if (idle_timeout_s === UNLIMITED && idle_use === UNLIMITED) return null;
  const running = run !== undefined && !run.done && !run.problem;
  const { checked = 0, total = 0, endings = [] } = run?.soFar ?? {};
  const given = { idle_timeout_s, idle_use } as Limits;
  return (
    <Input.Wrapper
      label={t`Try the idle rules`}
      description={t`Shows which sessions of the last month they would have ended. Earlier traffic than the last one is not recorded and counts as use.`}
      labelElement="div"
      size="sm"
    >
      <Stack gap="xs" mt={6}>
        <Group gap="xs">
          <Button size="xs" variant="default" loading={running} disabled={!isComplete} onClick={start}>
            <Trans>Try on the last month</Trans>
          </Button>
          {running && (
            <Button size="xs" variant="subtle" onClick={cancel}>
              <Trans>Cancel</Trans>
            </Button>
          )}
        </Group>
        {running && total > 0 && (
          <>
            <Progress value={(100 * checked) / total} aria-label={t`Progress`} />
            <Text size="xs" role="status">
              <Trans>
                {checked} of {total} sessions
              </Trans>
            </Text>
          </>
        )}
        {run?.problem != null && <ProblemAlert problem={run.problem} onRetry={() => void start()} />}
        {run?.done && (
          <>
            <Text size="sm" role="status">
              <Plural
                value={endings.length}
                one={`# of ${total} sessions would have been ended.`}
                other={`# of ${total} sessions would have been ended.`}
              />
              {run.of !== key && (
                <>
                  {" "}
                  <Trans>The rules have changed since.</Trans>
                </>
              )}
            </Text>
            {endings.length > 0 && <DryRunTable endings={endings} />}
          </>
        )}
        <CommandLine
          text={commandLine("carrel", "policy", "dry-run", ...(policy ? [policy] : []), ...limitWords(given))}
        />
      </Stack>
    </Input.Wrapper>
  );
}
