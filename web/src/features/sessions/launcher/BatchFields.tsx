import { useLingui } from "@lingui/react/macro";
import { NumberInput, SegmentedControl, Textarea, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./BatchFields.module.css";
import type { LaunchForm, LaunchKind } from "./request";

type Fields = Pick<LaunchForm, "kind" | "script" | "retries" | "start_at">;

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
      <StartField values={values} errors={errors} onChange={onChange} />
    </>
  );
}

/** The earliest start. */
export function StartField({ values, errors, onChange }: Props) {
  const { t } = useLingui();
  return (
    <TextInput
      type="datetime-local"
      label={t`Start no earlier than`}
      description={t`Optional. Until then the session is pending; afterwards it starts when there is capacity.`}
      value={values.start_at}
      error={errors.start_at}
      onChange={(event) => onChange({ start_at: event.currentTarget.value })}
    />
  );
}
