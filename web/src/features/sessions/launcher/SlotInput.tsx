import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Input, Slider, Text } from "@mantine/core";
import { type ReactNode, useId } from "react";
import type { SlotKind, SlotRoom } from "@/api/types";
import { useLabel } from "@/features/sessions/why/use-label";
import { SlotAmountInput } from "@/ui/form/SlotAmountInput";
import { slotAmount } from "@/ui/slots";
import { fitOf, lastStopWithin, nearestStop, stopsOf } from "./amounts";
import styles from "./SlotInput.module.css";

interface Props {
  slot: string;
  label: string;
  room: SlotRoom;
  /** The slot's definition; absent for CPU and memory, and while it loads. */
  kind?: SlotKind;
  /** The stops of the slider, if they are not those of the slot alone. */
  stops?: number[];
  /** What the amount means. */
  note?: ReactNode;
  value: number;
  error?: ReactNode;
  onChange: (amount: number) => void;
}

/** The amount of one slot: a slider for round values, a field for exact ones, and the available capacity. */
export function SlotInput({ slot, label, room, kind, note, value, error, onChange, ...props }: Props) {
  const { t } = useLingui();
  const id = useId();
  const by = useLabel()(room.by);
  const stops = props.stops ?? stopsOf(slot, room.most, kind);
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
          disabled={stops.length < 2}
          value={nearestStop(stops, value)}
          label={(index) => slotAmount(slot, stops[index] ?? 0)}
          onChange={(index) => onChange(stops[index] ?? value)}
          marks={marked ? [{ value: now, label: t`now` }] : undefined}
          classNames={{ mark: styles.mark, markLabel: styles.markLabel }}
          thumbLabel={t`${label}, slider`}
        />
        <SlotAmountInput
          id={id}
          className={styles.number}
          slot={slot}
          amount={value}
          error={!!error}
          onChange={onChange}
        />
      </Group>
      <Text size="xs" c={starts ? "dimmed" : "var(--carrel-busy)"} mt={marked ? 12 : 4}>
        <Trans>
          {nowSaid} available now, {mostSaid} at most ({by}).
        </Trans>
        {note && <> {note}</>}
      </Text>
    </Input.Wrapper>
  );
}
