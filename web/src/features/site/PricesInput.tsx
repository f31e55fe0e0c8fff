import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Group, Input, NumberInput, Stack } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { SlotNameInput } from "@/ui/form/SlotNameInput";
import { inSlotOrder } from "@/ui/slots";

type Prices = Record<string, number>;

interface Props {
  prices: Prices;
  onChange: (prices: Prices) => void;
  error?: ReactNode;
}

/** The price of a slot-hour of each slot. A row without a slot name or price is not sent. */
export function PricesInput({ prices, onChange, error }: Props) {
  const { t } = useLingui();
  const [fresh, setFresh] = useState<string[]>([]);
  const names: Record<string, string> = { cpu: t`CPU core`, mem: t`GiB of memory` };
  const slots = [...inSlotOrder(new Set(["cpu", "mem", ...Object.keys(prices)])), ...fresh];
  const set = (slot: string, price: number | string) => {
    const { [slot]: _, ...others } = prices;
    onChange(price === "" ? others : { ...others, [slot]: Number(price) });
  };
  return (
    <Input.Wrapper
      label={t`Prices per hour`}
      description={t`Statistics show costs of the slots that have a price.`}
      labelElement="div"
      error={error}
    >
      <Stack gap="xs" mt={6} role="group" aria-label={t`Prices per hour`}>
        {slots.map((slot, index) => {
          const name = names[slot] ?? slot;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no id while their slot is edited
            <Group key={index} gap="sm" wrap="nowrap">
              {names[slot] ? (
                <span style={{ flex: "0 0 8.5rem", fontSize: "var(--mantine-font-size-sm)" }}>{name}</span>
              ) : (
                <SlotNameInput
                  value={slot}
                  taken={slots}
                  onChange={(next) => {
                    const { [slot]: price, ...others } = prices;
                    if (price !== undefined) onChange({ ...others, [next]: price });
                    else setFresh(fresh.map((one) => (one === slot ? next : one)));
                  }}
                />
              )}
              <NumberInput
                size="xs"
                w={140}
                min={0}
                max={1_000_000}
                decimalScale={6}
                aria-label={t`Price of ${name}`}
                placeholder={t`no price`}
                disabled={slot === ""}
                value={prices[slot] ?? ""}
                onChange={(price) => {
                  set(slot, price);
                  setFresh(fresh.filter((one) => one !== slot));
                }}
              />
              {!names[slot] && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={t`Remove ${name}`}
                  onClick={() => {
                    set(slot, "");
                    setFresh(fresh.filter((one) => one !== slot));
                  }}
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
            disabled={fresh.includes("")}
            onClick={() => setFresh([...fresh, ""])}
          >
            <Trans>Add slot</Trans>
          </Button>
        </Group>
      </Stack>
    </Input.Wrapper>
  );
}
