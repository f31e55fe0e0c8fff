import { NumberInput } from "@mantine/core";
import type { ReactNode } from "react";
import { slotDecimals, slotUnit } from "@/ui/slots";
import { SizeInput } from "./SizeInput";

interface Props {
  id?: string;
  className?: string;
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

/** An amount of a slot in display units: cores, a size, parts of a device. */
export function SlotAmountInput({ slot, amount, max, onChange, ...rest }: Props) {
  const style = rest.className ? undefined : { flex: 1, minWidth: 0 };
  if (slot === "mem") return <SizeInput style={style} bytes={amount} onChange={onChange} {...rest} />;
  const unit = slotUnit(slot);
  return (
    <NumberInput
      size="xs"
      style={style}
      min={0}
      allowNegative={false}
      // Never change the typed value on blur; invalid values are refused.
      clampBehavior="none"
      max={max === undefined ? undefined : max / unit}
      step={slot === "cpu" ? 0.5 : unit === 1 ? 1 : 0.1}
      decimalScale={slotDecimals(slot)}
      value={amount === null ? "" : amount / unit}
      onChange={(value) => onChange(Math.round(Number(value) * unit))}
      {...rest}
    />
  );
}
