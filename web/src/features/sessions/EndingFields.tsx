import { useLingui } from "@lingui/react/macro";
import { Group, NumberInput, Select } from "@mantine/core";
import { type Ending, SIGNALS, type Signal } from "./ending";

interface Props {
  values: Ending;
  onChange: (values: Ending) => void;
}

/** Signal and grace period of a termination. */
export function EndingFields({ values, onChange }: Props) {
  const { t } = useLingui();
  return (
    <Group grow align="flex-start">
      <Select
        label={t`Signal`}
        size="xs"
        clearable
        clearButtonProps={{ "aria-label": t`Default signal` }}
        placeholder={t`As requested`}
        data={[...SIGNALS]}
        value={values.signal}
        onChange={(signal) => onChange({ ...values, signal: signal as Signal | null })}
      />
      <NumberInput
        label={t`Grace period (s)`}
        size="xs"
        min={0}
        max={300}
        allowDecimal={false}
        placeholder={t`As requested`}
        value={values.grace_s ?? ""}
        onChange={(value) => onChange({ ...values, grace_s: value === "" ? null : Number(value) })}
      />
    </Group>
  );
}
