import { useLingui } from "@lingui/react/macro";
import { NumberInput, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { DurationInput } from "@/ui/form/DurationInput";
import { type LaunchForm, USUAL_PRIORITY } from "./request";

type Fields = Pick<LaunchForm, "start_at" | "time_limit_s" | "priority">;

interface Props {
  values: Fields;
  errors: { [Field in keyof Fields]?: ReactNode };
  onChange: (part: Partial<Fields>) => void;
}

/** The earliest start, the time limit, and the priority. */
export function TimingFields({ values, errors, onChange }: Props) {
  const { t } = useLingui();
  return (
    <>
      <TextInput
        type="datetime-local"
        label={t`Start no earlier than`}
        description={t`Optional. Until then the session is pending; afterwards it starts when there is capacity.`}
        size="xs"
        value={values.start_at}
        error={errors.start_at}
        onChange={(event) => onChange({ start_at: event.currentTarget.value })}
      />
      <DurationInput
        label={t`Time limit`}
        description={t`The session is terminated after this time. A limit makes the estimated start times of waiting sessions more accurate.`}
        value={values.time_limit_s}
        error={errors.time_limit_s}
        onChange={(seconds) => onChange({ time_limit_s: seconds })}
        onClear={() => onChange({ time_limit_s: null })}
      />
      <NumberInput
        label={t`Priority`}
        description={t`0 to 100. Sessions with a higher priority start first. Default: ${USUAL_PRIORITY}, or your highest allowed priority.`}
        size="xs"
        min={0}
        max={100}
        clampBehavior="none"
        allowDecimal={false}
        value={values.priority ?? ""}
        error={errors.priority}
        onChange={(value) => onChange({ priority: value === "" ? null : Number(value) })}
      />
    </>
  );
}
