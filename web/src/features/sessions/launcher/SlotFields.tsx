import { Trans } from "@lingui/react/macro";
import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Check, SlotKind, Slots, Verdict } from "@/api/types";
import { slotKindsQuery } from "@/queries/slot-kinds";
import { formatSize } from "@/ui/format";
import { inSlotOrder } from "@/ui/slots";
import { roomShown } from "./amounts";
import { deviceAmount, devicePairs, deviceRoom, deviceStops, withDevices } from "./device-amounts";
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

const NONE = { now: 0, most: 0, by: "the largest node" };

/** The amount of each slot that the nodes of the group have. */
export function SlotFields({ slots, check, verdict, errorOf, onChange }: Props) {
  const { data: kinds = [] } = useQuery(slotKindsQuery());
  const nameOf = useSlotFieldName();
  // Also list requested slots that this group lacks, so that they can be removed.
  const requested = Object.keys(slots).filter((slot) => slots[slot]);
  const names = new Set([...Object.keys(check.slots), ...requested]);
  const pairs = devicePairs(kinds, names);
  const hidden = new Set(pairs.map(({ whole }) => whole.name));
  const roomOf = (slot: string) => check.slots[slot] ?? NONE;
  return (
    <Stack gap="md">
      {inSlotOrder(names)
        .filter((slot) => !hidden.has(slot))
        .map((slot) => {
          const kind = kinds.find(({ name }) => name === slot);
          const pair = pairs.find(({ shares }) => shares.name === slot);
          const amount = pair ? deviceAmount(pair, slots) : (slots[slot] ?? 0);
          const room = pair ? (deviceRoom(pair, check.slots, amount) ?? NONE) : roomOf(slot);
          const field = {
            slot,
            room: roomShown(room, amount, verdict),
            value: amount,
            note: <DeviceMemory kind={kind} amount={amount} sizes={check.device_mem_bytes} />,
          };
          return pair ? (
            <SlotInput
              key={slot}
              {...field}
              label={pair.whole.title || pair.whole.name}
              stops={deviceStops(pair, check.slots)}
              error={errorOf(slot) ?? errorOf(pair.whole.name)}
              onChange={(next) => onChange(withDevices(pair, slots, next, kinds))}
            />
          ) : (
            <SlotInput
              key={slot}
              {...field}
              label={nameOf(slot, kinds)}
              kind={kind}
              error={errorOf(slot)}
              onChange={(next) => onChange(withSlot(slots, slot, next, kinds))}
            />
          );
        })}
    </Stack>
  );
}

interface DeviceMemoryProps {
  kind: SlotKind | undefined;
  amount: number;
  /** By family, of one device. */
  sizes: Readonly<Record<string, number>>;
}

/** The memory of the devices that an amount gives; nothing if it is unknown, or differs between devices. */
function DeviceMemory({ kind, amount, sizes }: DeviceMemoryProps) {
  const size = sizes[kind?.family ?? ""];
  if (!kind || size === undefined || amount === 0) return null;
  const memory = formatSize((size * amount) / kind.scale);
  return <Trans>{memory} of device memory.</Trans>;
}
