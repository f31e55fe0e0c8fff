import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Select, Stack, Text } from "@mantine/core";
import { Fragment } from "react";
import type { GroupRoom, Verdict } from "@/api/types";
import { useReason } from "@/features/sessions/why/use-reason";
import type { LostGroups } from "./use-lost-choices";
import { useVerdictWord } from "./use-verdict-word";

interface Props {
  groups: GroupRoom[];
  value: string;
  /** The verdict of the form in the chosen group; undefined while it is checked. */
  verdict: Verdict | undefined;
  /** What the user cannot use any more. */
  lost: LostGroups;
  onChange: (name: string) => void;
}

/** Selects a resource group, showing the estimate for each. */
export function GroupChoice({ groups, value, verdict, lost, onChange }: Props) {
  const { t } = useLingui();
  const word = useVerdictWord();
  const reason = useReason();
  const { preferred, others } = lost;
  const note = (preferred || others.length > 0) && (
    <>
      {preferred && <Trans>You cannot use resource group {preferred} here. The default is selected.</Trans>}{" "}
      {others.map((other) => (
        <Fragment key={other}>
          <Trans>You cannot use resource group {other} here. It was removed.</Trans>{" "}
        </Fragment>
      ))}
    </>
  );
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
