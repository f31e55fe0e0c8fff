import { useLingui } from "@lingui/react/macro";
import { SegmentedControl } from "@mantine/core";

/** State filter of a list; absent: active ones. */
export type StateChoice = "off" | "all" | undefined;

/** The filter value for the server: active, inactive, or undefined for both. */
export function inUse(state: StateChoice): boolean | undefined {
  return state === "all" ? undefined : state !== "off";
}

interface Props {
  label: string;
  /** Labels of the two states. */
  on: string;
  off: string;
  value: StateChoice;
  onChange: (state: StateChoice) => void;
}

/** Filters by active, inactive or all. */
export function StateSwitch({ label, on, off, value, onChange }: Props) {
  const { t } = useLingui();
  return (
    <SegmentedControl
      size="xs"
      aria-label={label}
      value={value ?? "on"}
      onChange={(state) => onChange(state === "on" ? undefined : (state as "off" | "all"))}
      data={[
        { value: "on", label: on },
        { value: "off", label: off },
        { value: "all", label: t`All` },
      ]}
    />
  );
}
