import { useLingui } from "@lingui/react/macro";
import { Group, Input, Stack } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { SlotAmountInput } from "@/ui/form/SlotAmountInput";
import { SlotNameInput } from "@/ui/form/SlotNameInput";
import { inSlotOrder, slotText, useSlotName } from "@/ui/slots";

interface Props {
  label: string;
  description: string;
  slots: Record<string, number>;
  /** What applies to slots that are not set. */
  usual: Readonly<Record<string, number>>;
  error?: ReactNode;
  onChange: (slots: Record<string, number>) => void;
}

/** Amounts of an image's sessions by slot; 0 or empty: not set. */
export function ImageSlotsInput({ label, description, slots, usual, error, onChange }: Props) {
  const { t } = useLingui();
  const slotName = useSlotName();
  const [more, setMore] = useState("");
  const names = inSlotOrder(new Set(["cpu", "mem", ...Object.keys(usual), ...Object.keys(slots)]));
  return (
    <Input.Wrapper label={label} description={description} labelElement="div" error={error}>
      <Stack gap="xs" mt={6} role="group" aria-label={label}>
        {names.map((slot) => (
          <Group key={slot} gap="sm" wrap="nowrap" align="center">
            <span style={{ flex: "0 0 8.5rem", fontSize: "var(--mantine-font-size-sm)" }}>
              {slotName(slot)}
            </span>
            <SlotAmountInput
              slot={slot}
              aria-label={`${label}: ${slotName(slot)}`}
              placeholder={usual[slot] ? slotText(slot, usual[slot]) : undefined}
              amount={slots[slot] || null}
              onChange={(amount) => onChange({ ...slots, [slot]: amount })}
            />
          </Group>
        ))}
        <Group gap="sm" wrap="nowrap" align="center">
          <SlotNameInput value={more} taken={names} onChange={setMore} />
          {more !== "" && (
            <SlotAmountInput
              slot={more}
              aria-label={t`${label}: amount of ${more}`}
              amount={null}
              onChange={(amount) => {
                if (amount <= 0) return;
                onChange({ ...slots, [more]: amount });
                setMore("");
              }}
            />
          )}
        </Group>
      </Stack>
    </Input.Wrapper>
  );
}
