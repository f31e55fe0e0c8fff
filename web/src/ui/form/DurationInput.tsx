import { useLingui } from "@lingui/react/macro";
import { Group, Input, type InputWrapperProps, NumberInput, Select } from "@mantine/core";
import { type ReactNode, useState } from "react";

const SIZES = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
export type DurationUnit = keyof typeof SIZES;
const UNITS: DurationUnit[] = ["s", "m", "h", "d"];

interface Props extends Pick<InputWrapperProps, "inputWrapperOrder"> {
  label: string;
  description?: ReactNode;
  /** The label is visible elsewhere: use it only for screen readers. */
  labelled?: boolean;
  /** In seconds; null: the field is empty. */
  value: number | null;
  onChange: (seconds: number) => void;
  /** Called when the field is cleared; without it, empty counts as zero. */
  onClear?: () => void;
  /** The units to choose from, smallest first; all by default. */
  units?: DurationUnit[];
  disabled?: boolean;
  /** Shown while the field is disabled. */
  placeholder?: string;
  error?: ReactNode;
  size?: "xs" | "sm";
  /** The name of the field, for links to it. */
  "data-path"?: string;
}

/** A duration as a number and its unit. */
export function DurationInput(props: Props) {
  const {
    label,
    labelled,
    description,
    error,
    value,
    onChange,
    onClear,
    units: offered = UNITS,
    size = "xs",
    inputWrapperOrder,
    ...rest
  } = props;
  const { t } = useLingui();
  const [unit, setUnit] = useState<DurationUnit>(() => unitOf(value, offered));
  const units: Record<DurationUnit, string> = { s: t`seconds`, m: t`minutes`, h: t`hours`, d: t`days` };
  return (
    <Input.Wrapper
      style={{ flex: 1 }}
      label={labelled ? undefined : label}
      labelElement="div"
      description={description}
      error={error}
      inputWrapperOrder={inputWrapperOrder}
    >
      <Group gap="xs" mt={labelled ? 0 : 6} wrap="nowrap">
        <NumberInput
          size={size}
          style={{ flex: 1 }}
          aria-label={label}
          min={0}
          allowNegative={false}
          decimalScale={3}
          value={rest.disabled || value === null ? "" : value / SIZES[unit]}
          onChange={(amount) =>
            amount === "" && onClear ? onClear() : onChange(Math.round(Number(amount) * SIZES[unit]))
          }
          error={!!error}
          {...rest}
        />
        <Select
          size={size}
          w={110}
          aria-label={t`Unit of: ${label}`}
          allowDeselect={false}
          disabled={rest.disabled}
          data={offered.map((one) => ({
            value: one,
            label: units[one],
          }))}
          value={unit}
          onChange={(next) => {
            if (!next) return;
            // Keep the number and reinterpret it in the new unit.
            if (value !== null) onChange(Math.round((value / SIZES[unit]) * SIZES[next as DurationUnit]));
            setUnit(next as DurationUnit);
          }}
        />
      </Group>
    </Input.Wrapper>
  );
}

/** The largest of the units that divides the duration. */
function unitOf(seconds: number | null, offered: DurationUnit[]): DurationUnit {
  if (seconds === null) return "h";
  const divisor = offered.findLast((unit) => seconds > 0 && seconds % SIZES[unit] === 0);
  return divisor ?? offered[0] ?? "s";
}
