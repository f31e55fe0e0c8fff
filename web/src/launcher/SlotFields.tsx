import { useLingui } from "@lingui/react/macro";
import { Stack } from "@mantine/core";
import type { ReactNode } from "react";
import type { Check, Slots } from "@/api/types";
import { inSlotOrder } from "@/ui/slots";
import { familyOf, withSlot } from "./request";
import { SlotInput } from "./SlotInput";

interface Props {
  slots: Slots;
  check: Check;
  /** What is wrong with the amount of a slot. */
  errorOf: (slot: string) => ReactNode;
  onChange: (slots: Record<string, number>) => void;
}

/** How much of each slot that the nodes of the group have. */
export function SlotFields({ slots, check, errorOf, onChange }: Props) {
  const nameOf = useFieldName();
  // One that is asked for and that this group does not have is shown too: it must be possible to take it away.
  const asked = Object.keys(slots).filter((slot) => slots[slot]);
  return (
    <Stack gap="md">
      {inSlotOrder(new Set([...Object.keys(check.slots), ...asked])).map((slot) => (
        <SlotInput
          key={slot}
          slot={slot}
          label={nameOf(slot)}
          room={check.slots[slot] ?? { now: 0, most: 0, by: "the largest node" }}
          value={slots[slot] ?? 0}
          error={errorOf(slot)}
          onChange={(amount) => onChange(withSlot(slots, slot, amount))}
        />
      ))}
    </Stack>
  );
}

/** What the field of a slot is called. */
export function useFieldName(): (slot: string) => string {
  const { t } = useLingui();
  return (slot) => {
    const family = familyOf(slot);
    if (slot === "cpu") return t`CPU cores`;
    if (slot === "mem") return t`Memory`;
    return slot.endsWith(".shares") ? t`Parts of a device: ${family}` : t`Whole devices: ${family}`;
  };
}
