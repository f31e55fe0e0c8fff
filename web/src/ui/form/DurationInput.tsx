import { useLingui } from "@lingui/react/macro";
import { Group, Input, NumberInput, Select } from "@mantine/core";
import { type ReactNode, useState } from "react";

const SIZES = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
type Unit = keyof typeof SIZES;

interface Props {
  label: string;
  description?: ReactNode;
  /** The label is visible elsewhere: use it only for screen readers. */
  labelled?: boolean;
  /** In seconds; null: the field is empty. */
  value: number | null;
  onChange: (seconds: number) => void;
  /** Called when the field is cleared; without it, empty counts as zero. */
  onClear?: () => void;
  disabled?: boolean;
  /** Shown while the field is disabled. */
  placeholder?: string;
  error?: ReactNode;
}

/** A duration as a number and its unit. */
export function DurationInput(props: Props) {
  const { label, labelled, description, error, value, onChange, onClear, ...rest } = props;
  const { t } = useLingui();
  const [unit, setUnit] = useState<Unit>(() => unitOf(value));
  const units: Record<Unit, string> = { s: t`seconds`, m: t`minutes`, h: t`hours`, d: t`days` };
  return (
    <Input.Wrapper
      style={{ flex: 1 }}
      label={labelled ? undefined : label}
      labelElement="div"
      description={description}
      error={error}
    >
      <Group gap="xs" mt={labelled ? 0 : 6} wrap="nowrap">
        <NumberInput
          size="xs"
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
          size="xs"
          w={110}
          aria-label={t`Unit of: ${label}`}
          allowDeselect={false}
          disabled={rest.disabled}
          data={(Object.keys(SIZES) as Unit[]).map((one) => ({ value: one, label: units[one] }))}
          value={unit}
          onChange={(next) => {
            if (!next) return;
            // Keep the number and reinterpret it in the new unit.
            if (value !== null) onChange(Math.round((value / SIZES[unit]) * SIZES[next as Unit]));
            setUnit(next as Unit);
          }}
        />
      </Group>
    </Input.Wrapper>
  );
}

/** The largest unit that divides the duration. */
function unitOf(seconds: number | null): Unit {
  if (seconds === null) return "h";
  const divisor = (["d", "h", "m"] as const).find((unit) => seconds > 0 && seconds % SIZES[unit] === 0);
  return divisor ?? "s";
}
