import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Progress, SegmentedControl, Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { UserMade } from "@/api/types";
import { createMany } from "@/queries/users";
import { useUnsavedInput } from "@/ui/form/unsaved-input";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { CsvSource } from "./CsvSource";
import { type Defaults, DefaultsPanel, freshDefaults, toDefaults } from "./DefaultsPanel";
import { DraftTable } from "./DraftTable";
import { type Outcome, parseUsers, patternUsers, pieces } from "./drafts";
import { PatternSource } from "./PatternSource";

/** Maximum users per request of the API. */
const MOST = 500;
/** Small batches, to show progress: hashing a password takes a while. */
const AT_ONCE = 20;
const FRESH_PATTERN = { prefix: "", suffix: "", count: 10 };

interface Props {
  onMade: (outcome: Outcome) => void;
  onCancel: () => void;
}

/** The source of the users, their common settings, and the server's validation before any is created. */
export function ManyForm({ onMade, onCancel }: Props) {
  const { t } = useLingui();
  const client = useQueryClient();
  const [source, setSource] = useState<"csv" | "pattern">("csv");
  const [text, setText] = useState("");
  const [pattern, setPattern] = useState(FRESH_PATTERN);
  const [chosen, setChosen] = useState<Defaults>(freshDefaults);
  const [done, setDone] = useState<number | null>(null);
  const [problem, setProblem] = useState<unknown>(null);

  useUnsavedInput(() => text !== "" || pattern !== FRESH_PATTERN || chosen !== freshDefaults);

  const parsed = useMemo(() => parseUsers(text), [text]);
  const rows = useMemo(
    () => (source === "csv" ? parsed.rows : patternUsers(pattern)),
    [source, parsed, pattern],
  );
  const defaults = useMemo(() => toDefaults(chosen), [chosen]);
  const [debounced] = useDebouncedValue({ rows, defaults }, 400);
  const check = useQuery({
    queryKey: ["drafts", debounced] as const,
    queryFn: ({ signal }) => createMany(debounced.rows, debounced.defaults, { dryRun: true, signal }),
    enabled: debounced.rows.length > 0 && debounced.rows.length <= MOST,
    gcTime: 0,
  });
  const settled = debounced.rows === rows && debounced.defaults === defaults && check.data !== undefined;
  const wrong = settled ? check.data.filter(({ status }) => status === "failed").length : 0;

  const make = async () => {
    setProblem(null);
    const made: UserMade[] = [];
    try {
      for (const piece of pieces(rows, AT_ONCE)) {
        setDone(made.length);
        made.push(...(await createMany(piece, defaults, { dryRun: false })));
      }
      onMade({ rows, made });
    } catch (thrown) {
      // Show the created users: their passwords cannot be shown again.
      if (made.length > 0) onMade({ rows: rows.slice(0, made.length), made });
      setProblem(thrown);
    } finally {
      setDone(null);
      for (const key of ["users", "projects", "domains"]) void client.invalidateQueries({ queryKey: [key] });
    }
  };

  return (
    <Stack>
      <SegmentedControl
        aria-label={t`Source`}
        value={source}
        onChange={(next) => setSource(next as typeof source)}
        data={[
          { value: "csv", label: t`From a file` },
          { value: "pattern", label: t`From a pattern` },
        ]}
      />
      {source === "csv" ? (
        <CsvSource text={text} onText={setText} parsed={parsed} />
      ) : (
        <PatternSource pattern={pattern} onChange={setPattern} />
      )}
      <DefaultsPanel value={chosen} onChange={setChosen} />
      {rows.length > MOST && (
        <Text size="sm" c="var(--carrel-bad)" role="alert">
          <Trans>
            {rows.length} rows are too many. The limit is {MOST}. Split the file.
          </Trans>
        </Text>
      )}
      {check.error && <ProblemAlert problem={check.error} onRetry={() => void check.refetch()} />}
      {rows.length > 0 && (
        <Text size="sm" fw={600} aria-live="polite">
          <Plural value={rows.length} one="# user." other="# users." />{" "}
          {settled &&
            (wrong === 0 ? (
              <Trans>All rows are valid.</Trans>
            ) : (
              <Plural
                value={wrong}
                one="# row has an error. Correct it first."
                other="# rows have errors. Correct them first."
              />
            ))}
        </Text>
      )}
      {rows.length > 0 && <DraftTable rows={rows} checked={settled ? check.data : undefined} />}
      {done !== null && <Progress value={(100 * done) / rows.length} aria-label={t`Progress`} />}
      {problem != null && <ProblemAlert problem={problem} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onCancel} disabled={done !== null}>
          <Trans>Cancel</Trans>
        </Button>
        <Button
          onClick={() => void make()}
          loading={done !== null}
          disabled={!settled || wrong > 0 || rows.length === 0 || rows.length > MOST}
        >
          <Plural value={rows.length} one="Create # user" other="Create # users" />
        </Button>
      </Group>
    </Stack>
  );
}
