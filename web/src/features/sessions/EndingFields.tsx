import { useLingui } from "@lingui/react/macro";
import { Group, NumberInput, Select } from "@mantine/core";

export const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
export type Signal = (typeof SIGNALS)[number];

/** How the main process is asked to end; null: as requested with the session. */
export interface Ending {
  signal: Signal | null;
  grace_s: number | null;
}

/** The values that are set. */
export const given = ({ signal, grace_s }: Ending) => ({
  ...(signal ? { signal } : {}),
  ...(grace_s === null ? {} : { grace_s }),
});

/** The options of the command. */
export const endingWords = ({ signal, grace_s }: Ending): string[] => [
  ...(signal ? ["--signal", signal.replace("SIG", "")] : []),
  ...(grace_s === null ? [] : ["--grace", `${grace_s}s`]),
];

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
