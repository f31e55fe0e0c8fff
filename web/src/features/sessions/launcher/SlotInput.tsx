import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Input, NumberInput, Slider, Text } from "@mantine/core";
import { type ReactNode, useId } from "react";
import type { SlotKind, SlotRoom } from "@/api/types";
import { useLabel } from "@/features/sessions/why/use-label";
import { slotAmount, slotDecimals, slotUnit } from "@/ui/slots";
import { fitOf, lastStopWithin, nearestStop, stopsOf } from "./amounts";
import styles from "./SlotInput.module.css";

interface Props {
  slot: string;
  label: string;
  room: SlotRoom;
  /** The slot's definition; absent for CPU and memory, and while it loads. */
  kind?: SlotKind;
  value: number;
  error?: ReactNode;
  onChange: (amount: number) => void;
}

const STEP: Readonly<Record<number, number>> = { 1: 1, 1000: 0.1 };

/** The amount of one slot: a slider for round values, a field for exact ones, and the available capacity. */
export function SlotInput({ slot, label, room, kind, value, error, onChange }: Props) {
  const { t } = useLingui();
  const id = useId();
  const by = useLabel()(room.by);
  const unit = slotUnit(slot);
  const stops = stopsOf(slot, room.most, kind);
  const starts = fitOf(value, room) === "starts";
  const marked = room.now > 0 && room.now < room.most;
  const now = lastStopWithin(stops, room.now);
  const [nowSaid, mostSaid] = [slotAmount(slot, room.now), slotAmount(slot, room.most)];
  return (
    <Input.Wrapper id={id} label={label} error={error} labelElement="label">
      <Group gap="md" wrap="nowrap" mt={2}>
        <Slider
          className={styles.slider}
          size={5}
          color={starts ? "lamp" : "brass"}
          min={0}
          max={stops.length - 1}
          disabled={room.most === 0}
          value={nearestStop(stops, value)}
          label={(index) => slotAmount(slot, stops[index] ?? 0)}
          onChange={(index) => onChange(stops[index] ?? value)}
          marks={marked ? [{ value: now, label: t`now` }] : undefined}
          classNames={{ mark: styles.mark, markLabel: styles.markLabel }}
          thumbLabel={t`${label}, slider`}
        />
        <NumberInput
          id={id}
          className={styles.number}
          size="xs"
          min={0}
          allowNegative={false}
          step={slot === "cpu" || slot === "mem" ? 0.5 : STEP[unit]}
          decimalScale={slotDecimals(slot)}
          suffix={slot === "mem" ? " GiB" : ""}
          value={Math.round((value / unit) * 1000) / 1000}
          error={!!error}
          onChange={(amount) => onChange(Math.round(Number(amount) * unit))}
        />
      </Group>
      <Text size="xs" c={starts ? "dimmed" : "var(--carrel-busy)"} mt={marked ? 12 : 4}>
        <Trans>
          {nowSaid} available now, {mostSaid} at most ({by}).
        </Trans>
      </Text>
    </Input.Wrapper>
  );
}
