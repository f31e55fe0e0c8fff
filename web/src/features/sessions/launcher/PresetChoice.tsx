import { useLingui } from "@lingui/react/macro";
import { Group, Radio, SimpleGrid, Text } from "@mantine/core";
import type { Check, PresetRoom, Slots, Verdict } from "@/api/types";
import { useReason } from "@/features/sessions/why/use-reason";
import { SLOTS_JOINT, slotsWords } from "@/ui/slots";
import styles from "./PresetChoice.module.css";
import { presetVerdict, smallestFirst } from "./presets";
import { sameSlots } from "./request";
import { useVerdictWord } from "./use-verdict-word";

interface Props {
  check: Check;
  /** The verdict of the form as it is now; undefined while it is checked. */
  verdict: Verdict | undefined;
  slots: Slots;
  onChange: (slots: Record<string, number>) => void;
}

/** The presets as cards with their amounts, each with its estimate. */
export function PresetChoice({ check, verdict, slots, onChange }: Props) {
  const { t } = useLingui();
  const word = useVerdictWord();
  const reason = useReason();
  if (check.presets.length === 0) return null;
  // A preset sets only its own slots; CPU and memory always need a value.
  const slotsOf = (preset: PresetRoom) => ({ cpu: slots.cpu ?? 0, mem: slots.mem ?? 0, ...preset.slots });
  const presets = smallestFirst(check.presets);
  const chosen = presets.find((preset) => sameSlots(slotsOf(preset), slots));
  return (
    <Radio.Group
      label={t`Presets`}
      aria-label={t`Presets`}
      value={chosen?.id ?? null}
      onChange={(id) => {
        const preset = presets.find((one) => one.id === id);
        if (preset) onChange(slotsOf(preset));
      }}
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" mt={4}>
        {presets.map((preset) => {
          const its = presetVerdict(check, preset, preset === chosen ? { verdict } : null);
          return (
            <Radio.Card
              key={preset.id}
              value={preset.id}
              className={styles.card}
              data-verdict-of={its}
              aria-description={preset.reason ? reason(preset.reason) : undefined}
              title={preset.reason ? reason(preset.reason) : undefined}
            >
              <Group gap="xs" justify="space-between" wrap="nowrap">
                <Text size="sm" fw={600} truncate>
                  {preset.name}
                </Text>
                {its && (
                  <Text size="xs" className={styles.word}>
                    {word(its)}
                  </Text>
                )}
              </Group>
              <Text size="xs" c="dimmed">
                {slotsWords(preset.slots).join(SLOTS_JOINT)}
              </Text>
            </Radio.Card>
          );
        })}
      </SimpleGrid>
    </Radio.Group>
  );
}
