import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import type { AppOption } from "@/api/types";

interface Props {
  options: AppOption[];
  onChange: (options: AppOption[]) => void;
}

/** The options of an app template, each in a row. */
export function OptionRows({ options, onChange }: Props) {
  const { t } = useLingui();
  const set = (index: number, part: Partial<AppOption>) =>
    onChange(options.map((one, at) => (at === index ? { ...one, ...part } : one)));
  const types = [
    { value: "text", label: t`Text` },
    { value: "path", label: t`Path` },
    { value: "integer", label: t`Whole number` },
    { value: "boolean", label: t`Yes or no` },
  ] as const;
  return (
    <Stack gap="xs" role="group" aria-label={t`Options`}>
      <Text size="sm" fw={500}>
        <Trans>Options</Trans>
      </Text>
      {options.map((option, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity
        <Group key={index} gap="xs" align="flex-end" grow preventGrowOverflow={false}>
          <TextInput
            size="xs"
            label={t`Name`}
            spellCheck={false}
            value={option.name}
            onChange={(event) => set(index, { name: event.currentTarget.value })}
          />
          <TextInput
            size="xs"
            label={t`Title`}
            value={option.title}
            onChange={(event) => set(index, { title: event.currentTarget.value })}
          />
          <Select
            size="xs"
            label={t`Type`}
            allowDeselect={false}
            data={types}
            value={option.type ?? "text"}
            onChange={(type) => set(index, { type: types.find(({ value }) => value === type)?.value })}
          />
          <TextInput
            size="xs"
            label={t`Default`}
            spellCheck={false}
            value={option.default ?? ""}
            onChange={(event) => set(index, { default: event.currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            color="red"
            flex={0}
            aria-label={t`Remove option ${option.name}`}
            onClick={() => onChange(options.filter((_, at) => at !== index))}
          >
            <IconTrash size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => onChange([...options, { name: "", title: "" }])}
        >
          <Trans>Add option</Trans>
        </Button>
      </Group>
    </Stack>
  );
}
