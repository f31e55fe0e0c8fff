import { useLingui } from "@lingui/react/macro";
import { NumberInput, SegmentedControl, Text, Textarea, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { readArray } from "./array";
import styles from "./BatchFields.module.css";
import { ArrayWords } from "./RequestSummary";
import type { LaunchForm, LaunchKind } from "./request";

type Fields = Pick<LaunchForm, "kind" | "script" | "array" | "retries">;

interface Props {
  values: Fields;
  /** The error of each field. */
  errors: { [Field in keyof Fields | "command"]?: ReactNode };
  onChange: (part: Partial<Fields>) => void;
}

/** The choice between an interactive and a batch session. */
export function KindChoice({ values, onChange }: Omit<Props, "errors">) {
  const { t } = useLingui();
  return (
    <SegmentedControl
      aria-label={t`Session type`}
      fullWidth
      value={values.kind}
      onChange={(kind) => onChange({ kind: kind as LaunchKind })}
      data={[
        { value: "interactive", label: t`Interactive: apps and a terminal` },
        { value: "batch", label: t`Batch: runs a command` },
      ]}
    />
  );
}

/** The fields of a batch session. */
export function BatchFields({ values, errors, onChange }: Props) {
  const { t } = useLingui();
  return (
    <>
      <Textarea
        label={t`Command`}
        description={t`Shell commands, run once in /home/work. The session ends with the last one, and its exit code is the result.`}
        placeholder="python train.py --epochs 3"
        required
        autosize
        minRows={2}
        maxRows={12}
        spellCheck={false}
        classNames={{ input: styles.code ?? "" }}
        value={values.script}
        error={errors.script ?? errors.command}
        onChange={(event) => onChange({ script: event.currentTarget.value })}
      />
      <ArrayField values={values} errors={errors} onChange={onChange} />
      <NumberInput
        label={t`Retries`}
        description={t`How often the command is repeated if it fails. By default it never runs twice.`}
        min={0}
        max={100}
        clampBehavior="none"
        allowDecimal={false}
        value={values.retries}
        error={errors.retries}
        onChange={(value) => onChange({ retries: Number(value) })}
      />
    </>
  );
}

/** Many sessions of one command, as a range of indexes. */
function ArrayField({ values, errors, onChange }: Props) {
  const { t } = useLingui();
  const array = readArray(values.array);
  return (
    <div>
      <TextInput
        label={t`Array`}
        description={t`Optional: one session for each index, which is CARREL_ARRAY_INDEX in its environment. 1-100 makes a hundred, 1-100%8 runs at most eight of them at once.`}
        placeholder="1-100%8"
        autoComplete="off"
        spellCheck={false}
        value={values.array}
        error={errors.array}
        onChange={(event) => onChange({ array: event.currentTarget.value })}
      />
      {array && (
        <Text size="xs" c="dimmed" mt={4} role="status">
          <ArrayWords {...array} />
        </Text>
      )}
    </div>
  );
}
