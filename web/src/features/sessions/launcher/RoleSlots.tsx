import { useLingui } from "@lingui/react/macro";
import { Checkbox, SimpleGrid, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Slots } from "@/api/types";
import { slotKindsQuery } from "@/queries/slot-kinds";
import { SizeInput } from "@/ui/form/SizeInput";
import { SlotAmountInput } from "@/ui/form/SlotAmountInput";
import { inSlotOrder, SLOTS_JOINT, slotsWords } from "@/ui/slots";
import { withSlot } from "./request";
import { changedRole, type LaunchRole, requested } from "./roles";
import { useSlotFieldName } from "./use-slot-field-name";

interface Props {
  role: LaunchRole;
  /** The amounts of the session, which a role has by default. */
  usual: Slots;
  /** The slots of the resource group. */
  names: readonly string[];
  onChange: (role: LaunchRole) => void;
}

/** The amounts of each container of a role: those of the session, or its own of every slot that there is. */
export function RoleSlots({ role, usual, names, onChange }: Props) {
  const { t } = useLingui();
  const { data: kinds = [] } = useQuery(slotKindsQuery());
  const nameOf = useSlotFieldName();
  const slots: Record<string, number> | null = role.slots ? { ...role.slots } : null;
  const all = inSlotOrder(new Set(["cpu", "mem", ...names, ...Object.keys(slots ?? {})]));
  const session = slotsWords(usual).join(SLOTS_JOINT);
  return (
    <Stack gap="xs">
      <Checkbox
        size="xs"
        label={t`Resources of its own`}
        description={slots ? undefined : t`Without them, as the session: ${session}.`}
        checked={slots !== null}
        onChange={(event) =>
          onChange(changedRole(role, { slots: event.currentTarget.checked ? requested(usual) : undefined }))
        }
      />
      <SimpleGrid cols={{ base: 2, sm: 3 }} spacing="xs" verticalSpacing="xs">
        {slots &&
          all.map((slot) => (
            <SlotAmountInput
              key={slot}
              slot={slot}
              label={nameOf(slot, kinds)}
              amount={slots[slot] ?? 0}
              onChange={(amount) =>
                onChange(changedRole(role, { slots: requested(withSlot(slots, slot, amount, kinds)) }))
              }
            />
          ))}
        <SizeInput
          label={t`Shared memory`}
          placeholder={t`As above`}
          bytes={role.shm_bytes ?? null}
          onChange={(shm_bytes) => onChange(changedRole(role, { shm_bytes }))}
          onClear={() => onChange(changedRole(role, { shm_bytes: undefined }))}
        />
      </SimpleGrid>
    </Stack>
  );
}
