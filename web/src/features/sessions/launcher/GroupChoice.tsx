import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Select, Stack, Text } from "@mantine/core";
import type { GroupRoom, Verdict } from "@/api/types";
import { useReason } from "@/features/sessions/why/use-reason";
import { useVerdictWord } from "./use-verdict-word";

interface Props {
  groups: GroupRoom[];
  value: string;
  /** The verdict of the form in the chosen group; undefined while it is checked. */
  verdict: Verdict | undefined;
  /** The name of a group that cannot be used any more, and was replaced. */
  lost: string;
  onChange: (name: string) => void;
}

/** Selects a resource group, showing the estimate for each. */
export function GroupChoice({ groups, value, verdict, lost, onChange }: Props) {
  const { t } = useLingui();
  const word = useVerdictWord();
  const reason = useReason();
  const note = lost && <Trans>You cannot use resource group {lost} here. The default is selected.</Trans>;
  if (groups.length < 2)
    return note ? (
      <Text size="xs" role="status">
        {note}
      </Text>
    ) : null;
  return (
    <Select
      label={t`Resource group`}
      description={note || undefined}
      data={groups.map(({ name }) => name)}
      value={value}
      allowDeselect={false}
      onChange={(name) => name && onChange(name)}
      comboboxProps={{ shadow: "md" }}
      renderOption={({ option }) => {
        const group = groups.find(({ name }) => name === option.value);
        const its = option.value === value ? verdict : group?.verdict;
        return (
          <Stack gap={0} style={{ minWidth: 0, flex: 1 }}>
            <Group gap="xs" justify="space-between" wrap="nowrap">
              <Text size="sm" fw={600} truncate>
                {option.value}
              </Text>
              {its && <Text size="xs">{word(its)}</Text>}
            </Group>
            {group?.reason && its !== "starts" && (
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
