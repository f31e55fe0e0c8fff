import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Checkbox, Group, Input, NumberInput, Stack, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { slotDecimals, slotUnit } from "@/ui/slots";
import type { Ceiling } from "./ceilings";

interface Props {
  rows: Ceiling[];
  onChange: (rows: Ceiling[]) => void;
  error?: ReactNode;
}

const GIB = 2 ** 30;
const AT_FIRST: Record<string, number> = { cpu: 16_000, mem: 64 * GIB };

/** How much sessions may hold together of each slot, or that it is not limited. */
export function CeilingsInput({ rows, onChange, error }: Props) {
  const { t } = useLingui();
  const set = (at: number, part: Partial<Ceiling>) =>
    onChange(rows.map((row, index) => (index === at ? { ...row, ...part } : row)));
  const names: Record<string, string> = { cpu: t`CPU cores`, mem: t`Memory` };
  return (
    <Input.Wrapper
      label={t`Ceilings`}
      description={t`What all sessions in it may hold together.`}
      labelElement="div"
      error={error}
    >
      <Stack gap="xs" mt={6}>
        {rows.map(({ slot, amount }, at) => {
          const name = names[slot] ?? slot;
          const unit = slotUnit(slot);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row is known by its place while its slot is written
            <Group key={at} gap="sm" wrap="nowrap" align="center">
              {names[slot] ? (
                <span style={{ flex: "0 0 7.5rem", fontSize: "var(--mantine-font-size-sm)" }}>{name}</span>
              ) : (
                <TextInput
                  size="xs"
                  w="7.5rem"
                  aria-label={t`Name of the slot`}
                  placeholder="cuda.device"
                  value={slot}
                  onChange={(event) => set(at, { slot: event.currentTarget.value.trim() })}
                />
              )}
              <NumberInput
                size="xs"
                style={{ flex: 1 }}
                aria-label={t`Most of ${name}`}
                min={0}
                disabled={amount === null}
                placeholder={t`not limited`}
                suffix={slot === "mem" ? " GiB" : ""}
                decimalScale={slotDecimals(slot)}
                value={amount === null ? "" : Math.round((amount / unit) * 1000) / 1000}
                onChange={(value) => set(at, { amount: Math.round(Number(value) * unit) })}
              />
              <Checkbox
                size="xs"
                label={<Trans>not limited</Trans>}
                aria-label={t`${name}: not limited`}
                checked={amount === null}
                onChange={(event) =>
                  set(at, { amount: event.currentTarget.checked ? null : (AT_FIRST[slot] ?? unit) })
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
        <Group>
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={<IconPlus size={13} aria-hidden />}
            onClick={() => onChange([...rows, { slot: "", amount: 1 }])}
          >
            <Trans>Another slot</Trans>
          </Button>
        </Group>
      </Stack>
    </Input.Wrapper>
  );
}
