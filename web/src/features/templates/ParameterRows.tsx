import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Fieldset, Group, Input, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { type ParameterRow, parameterRow, TYPES } from "./parameter-rows";

interface Props {
  rows: ParameterRow[];
  error?: ReactNode;
  onChange: (rows: ParameterRow[]) => void;
}

/** The parameters of a template, each with its type, default and limits. */
export function ParameterRows({ rows, error, onChange }: Props) {
  const { t } = useLingui();
  const change = (index: number, part: Partial<ParameterRow>) =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...part } : row)));
  return (
    <Fieldset legend={t`Parameters`}>
      <Stack gap="md">
        {rows.length === 0 && (
          <Text size="xs" c="dimmed">
            <Trans>Without parameters, every start requests the same session.</Trans>
          </Text>
        )}
        {rows.map((row, index) => (
          <ParameterInputs
            key={row.key}
            row={row}
            number={index + 1}
            onChange={(part) => change(index, part)}
            onRemove={() => onChange(rows.filter((_, at) => at !== index))}
          />
        ))}
        {error && <Input.Error>{error}</Input.Error>}
        <Button
          size="compact-xs"
          variant="subtle"
          style={{ alignSelf: "flex-start" }}
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => onChange([...rows, parameterRow()])}
        >
          <Trans>Add parameter</Trans>
        </Button>
      </Stack>
    </Fieldset>
  );
}

interface RowProps {
  row: ParameterRow;
  number: number;
  onChange: (part: Partial<ParameterRow>) => void;
  onRemove: () => void;
}

function ParameterInputs({ row, number, onChange, onRemove }: RowProps) {
  const { t } = useLingui();
  const types: Record<ParameterRow["type"], string> = {
    text: t`text`,
    integer: t`integer`,
    number: t`number`,
    choice: t`choice`,
    boolean: t`yes or no`,
    folder: t`folder`,
    image: t`image`,
  };
  const text = (field: "name" | "description" | "default" | "min" | "max" | "choices") => ({
    size: "xs" as const,
    spellCheck: false,
    value: row[field],
    onChange: (event: React.ChangeEvent<HTMLInputElement>) =>
      onChange({ [field]: event.currentTarget.value }),
  });
  const numeric = row.type === "integer" || row.type === "number";
  return (
    <Stack gap={6}>
      <Group gap="xs">
        <TextInput
          style={{ flex: "3 1 9rem", minWidth: 0 }}
          aria-label={t`Name of parameter ${number}`}
          placeholder={t`name`}
          autoCapitalize="off"
          {...text("name")}
        />
        <Select
          size="xs"
          style={{ flex: "2 1 6.5rem", minWidth: 0 }}
          aria-label={t`Type of parameter ${number}`}
          allowDeselect={false}
          data={TYPES.map((value) => ({ value, label: types[value] }))}
          value={row.type}
          onChange={(type) => onChange({ type: (type ?? "text") as ParameterRow["type"] })}
        />
        {row.type === "boolean" ? (
          <Select
            size="xs"
            style={{ flex: "2 1 6.5rem", minWidth: 0 }}
            aria-label={t`Default of parameter ${number}`}
            placeholder={t`no default`}
            clearable
            clearButtonProps={{ "aria-label": t`No default` }}
            data={["true", "false"]}
            value={row.default || null}
            onChange={(value) => onChange({ default: value ?? "" })}
          />
        ) : (
          <TextInput
            style={{ flex: "2 1 6.5rem", minWidth: 0 }}
            aria-label={t`Default of parameter ${number}`}
            placeholder={t`no default`}
            {...text("default")}
          />
        )}
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t`Remove parameter ${number}`}
          onClick={onRemove}
        >
          <IconX size={15} aria-hidden />
        </ActionIcon>
      </Group>
      <Group gap="xs" wrap="nowrap" pe={34}>
        <TextInput
          style={{ flex: 4, minWidth: 0 }}
          aria-label={t`Description of parameter ${number}`}
          placeholder={t`description`}
          maxLength={500}
          {...text("description")}
        />
        {numeric && (
          <>
            <TextInput
              style={{ flex: 1, minWidth: 0 }}
              aria-label={t`Minimum of parameter ${number}`}
              placeholder={t`min`}
              inputMode="decimal"
              {...text("min")}
            />
            <TextInput
              style={{ flex: 1, minWidth: 0 }}
              aria-label={t`Maximum of parameter ${number}`}
              placeholder={t`max`}
              inputMode="decimal"
              {...text("max")}
            />
          </>
        )}
        {row.type === "choice" && (
          <TextInput
            style={{ flex: 3, minWidth: 0 }}
            aria-label={t`Choices of parameter ${number}`}
            placeholder={t`choices, separated by commas`}
            {...text("choices")}
          />
        )}
      </Group>
    </Stack>
  );
}
