import { useLingui } from "@lingui/react/macro";
import { Group, NumberInput, Select, Text, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { type Repeat, type Repetition, toCron } from "./cron";
import { useCronWords, weekdayName } from "./use-cron-words";

interface Props {
  value: Repetition;
  error: ReactNode;
  onChange: (part: Partial<Repetition>) => void;
}

/** When a schedule repeats: by a usual interval, or by a cron expression. */
export function RepeatInput({ value, error, onChange }: Props) {
  const { t } = useLingui();
  const words = useCronWords();
  const cron = toCron(value);
  const choices: { value: Repeat; label: string }[] = [
    { value: "hour", label: t`Every hour` },
    { value: "day", label: t`Every day` },
    { value: "weekdays", label: t`Monday to Friday` },
    { value: "week", label: t`Every week` },
    { value: "month", label: t`Every month` },
    { value: "custom", label: t`Cron expression` },
  ];
  return (
    <div>
      <Group align="flex-start" grow>
        <Select
          label={t`Run this`}
          allowDeselect={false}
          data={choices}
          value={value.every}
          onChange={(every) =>
            every && onChange({ every: every as Repeat, ...(every === "custom" ? { expression: cron } : {}) })
          }
        />
        <Details value={value} error={error} onChange={onChange} />
      </Group>
      <Text size="xs" c="dimmed" mt={6} data-cron={cron}>
        {words(cron) === cron ? null : `${words(cron)} · `}
        <code>{cron}</code>
      </Text>
    </div>
  );
}

function Details({ value, error, onChange }: Props) {
  const { t, i18n } = useLingui();
  const time = (
    <TextInput
      type="time"
      label={t`At`}
      value={value.time}
      error={value.every === "custom" ? null : error}
      onChange={(event) => onChange({ time: event.currentTarget.value || "00:00" })}
    />
  );
  if (value.every === "hour")
    return (
      <NumberInput
        label={t`At minute`}
        min={0}
        max={59}
        clampBehavior="strict"
        allowDecimal={false}
        value={value.minute}
        onChange={(minute) => onChange({ minute: Number(minute) })}
      />
    );
  if (value.every === "week")
    return (
      <>
        <Select
          label={t({ context: "weekday", message: "On" })}
          allowDeselect={false}
          data={[1, 2, 3, 4, 5, 6, 0].map((day) => ({
            value: String(day),
            label: weekdayName(day, i18n.locale),
          }))}
          value={String(value.weekday)}
          onChange={(day) => onChange({ weekday: Number(day) })}
        />
        {time}
      </>
    );
  if (value.every === "month")
    return (
      <>
        <NumberInput
          label={t`On day`}
          min={1}
          max={31}
          clampBehavior="strict"
          allowDecimal={false}
          value={value.day}
          onChange={(day) => onChange({ day: Number(day) || 1 })}
        />
        {time}
      </>
    );
  if (value.every !== "custom") return time;
  return (
    <TextInput
      label={t`Cron expression`}
      placeholder="0 6 * * 1-5"
      description={t`Minute, hour, day of month, month, day of week`}
      inputWrapperOrder={["label", "input", "description", "error"]}
      spellCheck={false}
      value={value.expression}
      error={error}
      onChange={(event) => onChange({ expression: event.currentTarget.value })}
    />
  );
}
