import { NumberInput } from "@mantine/core";
import type { ReactNode } from "react";
import { slotDecimals, slotUnit } from "@/ui/slots";

interface Props {
  slot: string;
  /** Names it to a screen reader where nothing else does. */
  "aria-label"?: string;
  label?: string;
  description?: string;
  /** In the base unit; null: nothing is written, as the placeholder says. */
  amount: number | null;
  max?: number;
  disabled?: boolean;
  placeholder?: string;
  error?: ReactNode;
  onChange: (amount: number) => void;
}

/** An amount of a slot, written as people do: cores, GiB, parts of a device. */
export function SlotAmountInput({ slot, amount, max, onChange, ...rest }: Props) {
  const unit = slotUnit(slot);
  return (
    <NumberInput
      size="xs"
      style={{ flex: 1, minWidth: 0 }}
      min={0}
      allowNegative={false}
      // What somebody has written is refused or sent, never changed in silence when they leave the field.
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
