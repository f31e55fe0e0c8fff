import { useLingui } from "@lingui/react/macro";
import { SegmentedControl } from "@mantine/core";

/** Which rows a list shows by their state; left out: those in use. */
export type StateChoice = "off" | "all" | undefined;

/** What the server is asked for: those in use, those that are not, or undefined for both. */
export function inUse(state: StateChoice): boolean | undefined {
  return state === "all" ? undefined : state !== "off";
}

interface Props {
  label: string;
  /** What the two states are called. */
  on: string;
  off: string;
  value: StateChoice;
  onChange: (state: StateChoice) => void;
}

/** Chooses between those in use, those that are not, and all. */
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
