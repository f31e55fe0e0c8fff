import { useLingui } from "@lingui/react/macro";
import { Group, Select, Stack, Text } from "@mantine/core";
import type { GroupRoom } from "@/api/types";
import { useReason } from "@/features/sessions/why/use-reason";
import { useVerdictWord } from "./use-verdict-word";

interface Props {
  groups: GroupRoom[];
  value: string;
  onChange: (name: string) => void;
}

/** Selects a resource group, showing the estimate for each. */
export function GroupChoice({ groups, value, onChange }: Props) {
  const { t } = useLingui();
  const word = useVerdictWord();
  const reason = useReason();
  if (groups.length < 2) return null;
  return (
    <Select
      label={t`Resource group`}
      data={groups.map(({ name }) => name)}
      value={value}
      allowDeselect={false}
      onChange={(name) => name && onChange(name)}
      comboboxProps={{ shadow: "md" }}
      renderOption={({ option }) => {
        const group = groups.find(({ name }) => name === option.value);
        return (
          <Stack gap={0} style={{ minWidth: 0, flex: 1 }}>
            <Group gap="xs" justify="space-between" wrap="nowrap">
              <Text size="sm" fw={600} truncate>
                {option.value}
              </Text>
              {group && <Text size="xs">{word(group.verdict)}</Text>}
            </Group>
            {group?.reason && (
              <Text size="xs" c="dimmed">
                {reason(group.reason)}
              </Text>
            )}
          </Stack>
        );
      }}
    />
  );
}
