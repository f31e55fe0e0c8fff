import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Input, NumberInput, Slider, Text } from "@mantine/core";
import { type ReactNode, useId } from "react";
import type { Resources } from "@/api/types";
import { formatCores, formatSize } from "@/ui/format";
import { freeNow, nearestStop, verdict } from "./amounts";
import styles from "./SlotInput.module.css";

interface Props {
  slot: "cpu" | "mem";
  label: string;
  stops: number[];
  resources: Resources;
  value: number;
  error?: ReactNode;
  onChange: (amount: number) => void;
}

const GIB = 2 ** 30;

/** How much of one slot: a slider for the round numbers, a field for the exact one, and what either would mean. */
export function SlotInput({ slot, label, stops, resources, value, error, onChange }: Props) {
  const { t } = useLingui();
  const id = useId();
  const show = slot === "cpu" ? formatCores : formatSize;
  const unit = slot === "cpu" ? 1000 : GIB;
  const left = freeNow(slot, resources);
  const says = verdict(value, slot, resources);
  const limit = nearestStop(stops, left);
  const sure = Math.max(0, stops[limit] !== undefined && stops[limit] > left ? limit - 1 : limit);
  return (
    <Input.Wrapper id={id} label={label} error={error} labelElement="label">
      <Group gap="md" wrap="nowrap" mt={2}>
        <Slider
          className={styles.slider}
          size={5}
          color={says === "starts" ? "lamp" : "brass"}
          min={0}
          max={stops.length - 1}
          value={nearestStop(stops, value)}
          label={(index) => show(stops[index] ?? 0)}
          onChange={(index) => onChange(stops[index] ?? value)}
          marks={left < resources.capacity[slot] ? [{ value: sure }] : undefined}
          classNames={{ mark: styles.mark }}
          thumbLabel={t`${label}, slider`}
        />
        <NumberInput
          id={id}
          className={styles.number}
          size="xs"
          min={0}
          step={slot === "cpu" ? 0.5 : 0.5}
          decimalScale={slot === "cpu" ? 3 : 2}
          suffix={slot === "cpu" ? "" : " GiB"}
          value={Math.round((value / unit) * 1000) / 1000}
          error={!!error}
          onChange={(amount) => onChange(Math.round(Number(amount) * unit))}
        />
      </Group>
      <Text size="xs" c={says === "starts" ? "dimmed" : "var(--carrel-busy)"} mt={4} aria-live="polite">
        {says === "waits" ? (
          <Trans>{show(left)} is free for one session now: this one will wait until there is more.</Trans>
        ) : (
          <Trans>
            {show(left)} of {show(resources.capacity[slot])} is free now.
          </Trans>
        )}
      </Text>
    </Input.Wrapper>
  );
}
