import { useLingui } from "@lingui/react/macro";
import { Autocomplete } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { groupsChoiceQuery } from "@/queries/groups";
import { inSlotOrder } from "@/ui/slots";

interface Props {
  value: string;
  onChange: (slot: string) => void;
  /** Slots that already have a row. */
  taken: readonly string[];
}

/** The name of an accelerator slot: an existing one, or any other. */
export function SlotNameInput({ value, onChange, taken }: Props) {
  const { t } = useLingui();
  const groups = useQuery(groupsChoiceQuery).data ?? [];
  const known = inSlotOrder(new Set(groups.flatMap(({ capacity }) => Object.keys(capacity))));
  return (
    <Autocomplete
      size="xs"
      w="8.5rem"
      aria-label={t`Slot name`}
      placeholder="cuda.device"
      data={known.filter((slot) => slot === value || !taken.includes(slot))}
      value={value}
      onChange={(slot) => onChange(slot.trim())}
    />
  );
}
