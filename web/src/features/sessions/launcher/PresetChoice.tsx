import { useLingui } from "@lingui/react/macro";
import { Chip, Group, Input, Tooltip } from "@mantine/core";
import type { PresetRoom, Slots } from "@/api/types";
import { useReason } from "@/features/sessions/why/use-reason";
import { SLOTS_JOINT, slotsWords } from "@/ui/slots";
import { sameSlots } from "./request";
import { useVerdictWord } from "./use-verdict-word";

interface Props {
  presets: PresetRoom[];
  slots: Slots;
  onChange: (slots: Record<string, number>) => void;
}

/** The presets, each with its estimate. */
export function PresetChoice({ presets, slots, onChange }: Props) {
  const { t } = useLingui();
  const word = useVerdictWord();
  const reason = useReason();
  if (presets.length === 0) return null;
  // A preset sets only its own slots; CPU and memory always need a value.
  const slotsOf = (preset: PresetRoom) => ({ cpu: slots.cpu ?? 0, mem: slots.mem ?? 0, ...preset.slots });
  const chosen = presets.find((preset) => sameSlots(slotsOf(preset), slots));
  return (
    <Input.Wrapper label={t`Presets`} labelElement="div">
      <Group gap="xs" mt={4} role="radiogroup" aria-label={t`Presets`}>
        {presets.map((preset) => {
          const amounts = slotsWords(preset.slots).join(SLOTS_JOINT);
          const why = [amounts, preset.reason && reason(preset.reason)].filter(Boolean).join(". ");
          return (
            <Tooltip key={preset.id} label={why} multiline maw={320} refProp="rootRef">
              <Chip
                type="radio"
                size="xs"
                checked={preset.id === chosen?.id}
                color={preset.verdict === "starts" ? "lamp" : preset.verdict === "waits" ? "brass" : "gray"}
                variant="outline"
                aria-description={why}
                onChange={() => onChange(slotsOf(preset))}
              >
                {`${preset.name} · ${word(preset.verdict)}`}
              </Chip>
            </Tooltip>
          );
        })}
      </Group>
    </Input.Wrapper>
  );
}
