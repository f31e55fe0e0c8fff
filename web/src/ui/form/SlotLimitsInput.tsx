import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Checkbox, Group, Input, Stack } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { slotUnit } from "@/ui/slots";
import { SlotAmountInput } from "./SlotAmountInput";
import { SlotNameInput } from "./SlotNameInput";

/** One row of slot limits. amount: in base units; null: unlimited. */
export type SlotLimit = { slot: string; amount: number | null };

interface Props {
  label: string;
  description: string;
  rows: SlotLimit[];
  onChange: (rows: SlotLimit[]) => void;
  error?: ReactNode;
  /** Below the rows: the default for the other slots. */
  others?: ReactNode;
}

const AT_FIRST: Record<string, number> = { cpu: 16_000, mem: 64 * 2 ** 30 };

/** The limit of each slot, or unlimited. */
export function SlotLimitsInput({ label, description, rows, onChange, error, others }: Props) {
  const { t } = useLingui();
  const set = (at: number, part: Partial<SlotLimit>) =>
    onChange(rows.map((row, index) => (index === at ? { ...row, ...part } : row)));
  const names: Record<string, string> = { cpu: t`CPU cores`, mem: t`Memory` };
  return (
    <Input.Wrapper label={label} description={description} labelElement="div" error={error}>
      <Stack gap="xs" mt={6} role="group" aria-label={label}>
        {rows.map(({ slot, amount }, at) => {
          const name = names[slot] ?? slot;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no id while their slot is edited
            <Group key={at} gap="sm" wrap="nowrap" align="center">
              {names[slot] ? (
                <span style={{ flex: "0 0 8.5rem", fontSize: "var(--mantine-font-size-sm)" }}>{name}</span>
              ) : (
                <SlotNameInput
                  value={slot}
                  taken={rows.map((row) => row.slot)}
                  onChange={(next) => set(at, { slot: next })}
                />
              )}
              <SlotAmountInput
                slot={slot}
                aria-label={t`Limit for ${name}`}
                disabled={amount === null}
                placeholder={t`not limited`}
                amount={amount}
                onChange={(next) => set(at, { amount: next })}
              />
              <Checkbox
                size="xs"
                label={<Trans>not limited</Trans>}
                aria-label={t`${name}: not limited`}
                checked={amount === null}
                onChange={(event) =>
                  set(at, {
                    amount: event.currentTarget.checked ? null : (AT_FIRST[slot] ?? slotUnit(slot)),
                  })
                }
              />
              {!names[slot] && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={t`Remove ${name}`}
                  onClick={() => onChange(rows.filter((_, index) => index !== at))}
                >
                  <IconX size={15} aria-hidden />
                </ActionIcon>
              )}
            </Group>
          );
        })}
        {others}
        <Group>
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={<IconPlus size={13} aria-hidden />}
            onClick={() => onChange([...rows, { slot: "", amount: 1 }])}
          >
            <Trans>Add slot</Trans>
          </Button>
        </Group>
      </Stack>
    </Input.Wrapper>
  );
}
