import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Check, Slots, Verdict } from "@/api/types";
import { slotKindsQuery } from "@/queries/slot-kinds";
import { inSlotOrder } from "@/ui/slots";
import { roomShown } from "./amounts";
import { withSlot } from "./request";
import { SlotInput } from "./SlotInput";
import { useSlotFieldName } from "./use-slot-field-name";

interface Props {
  slots: Slots;
  check: Check;
  /** Of the form; undefined while it is checked. */
  verdict: Verdict | undefined;
  /** The error of a slot's amount. */
  errorOf: (slot: string) => ReactNode;
  onChange: (slots: Record<string, number>) => void;
}

/** The amount of each slot that the nodes of the group have. */
export function SlotFields({ slots, check, verdict, errorOf, onChange }: Props) {
  const { data: kinds = [] } = useQuery(slotKindsQuery());
  const nameOf = useSlotFieldName();
  // Also list requested slots that this group lacks, so that they can be removed.
  const requested = Object.keys(slots).filter((slot) => slots[slot]);
  return (
    <Stack gap="md">
      {inSlotOrder(new Set([...Object.keys(check.slots), ...requested])).map((slot) => (
        <SlotInput
          key={slot}
          slot={slot}
          label={nameOf(slot, kinds)}
          kind={kinds.find(({ name }) => name === slot)}
          room={roomShown(
            check.slots[slot] ?? { now: 0, most: 0, by: "the largest node" },
            slots[slot] ?? 0,
            verdict,
          )}
          value={slots[slot] ?? 0}
          error={errorOf(slot)}
          onChange={(amount) => onChange(withSlot(slots, slot, amount, kinds))}
        />
      ))}
    </Stack>
  );
}
