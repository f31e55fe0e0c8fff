import { NumberInput } from "@mantine/core";
import type { ReactNode } from "react";
import { slotDecimals, slotUnit } from "@/ui/slots";

interface Props {
  slot: string;
  /** Accessible name, where there is no label. */
  "aria-label"?: string;
  label?: string;
  description?: string;
  /** In the base unit; null: empty, so the placeholder applies. */
  amount: number | null;
  max?: number;
  disabled?: boolean;
  placeholder?: string;
  error?: ReactNode;
  /** The name of the field, for links to it. */
  "data-path"?: string;
  onChange: (amount: number) => void;
}

/** An amount of a slot in display units: cores, GiB, parts of a device. */
export function SlotAmountInput({ slot, amount, max, onChange, ...rest }: Props) {
  const unit = slotUnit(slot);
  return (
    <NumberInput
      size="xs"
      style={{ flex: 1, minWidth: 0 }}
      min={0}
      allowNegative={false}
      // Never change the typed value on blur; invalid values are refused.
      clampBehavior="none"
      max={max === undefined ? undefined : max / unit}
      suffix={slot === "mem" ? " GiB" : ""}
      decimalScale={slotDecimals(slot)}
      value={amount === null ? "" : Math.round((amount / unit) * 1000) / 1000}
      onChange={(value) => onChange(Math.round(Number(value) * unit))}
      {...rest}
    />
  );
}
