import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Fieldset, Group, Input, Stack, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { type EnvironmentRow, environmentRow, variableFault } from "./variables";

interface Props {
  legend: string;
  rows: EnvironmentRow[];
  error?: ReactNode;
  onChange: (rows: EnvironmentRow[]) => void;
}

/** Environment variables, one row each. */
export function EnvironmentRows({ legend, rows, error, onChange }: Props) {
  const { t } = useLingui();
  const fault = (index: number) => {
    const problem = variableFault(rows, index);
    if (problem === "malformed") return t`Use letters, digits and _. Do not start with a digit.`;
    return problem === "repeated" ? t`This name is already taken` : null;
  };
  const change = (index: number, part: Partial<EnvironmentRow>) =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...part } : row)));

  return (
    <Fieldset legend={legend}>
      <Stack gap="xs">
        {rows.map((row, index) => (
          <Group key={row.key} gap="xs" wrap="nowrap" align="flex-start">
            <TextInput
              size="xs"
              style={{ flex: 2 }}
              aria-label={t`Name of variable ${index + 1}`}
              placeholder={t`NAME`}
              spellCheck={false}
              autoCapitalize="off"
              value={row.name}
              error={fault(index)}
              onChange={(event) => change(index, { name: event.currentTarget.value })}
              onPaste={(event) => {
                const pasted = fromText(event.clipboardData.getData("text"));
                if (pasted.length === 0) return;
                event.preventDefault();
                onChange([...rows.slice(0, index), ...pasted, ...rows.slice(index + 1)]);
              }}
            />
            <TextInput
              size="xs"
              style={{ flex: 3 }}
              aria-label={t`Value of variable ${index + 1}`}
              placeholder={t`value`}
              spellCheck={false}
              value={row.value}
              onChange={(event) => change(index, { value: event.currentTarget.value })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              mt={2}
              aria-label={t`Remove variable ${index + 1}`}
              onClick={() => onChange(rows.filter((_, at) => at !== index))}
            >
              <IconX size={15} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        {error && <Input.Error>{error}</Input.Error>}
        <Button
          size="compact-xs"
          variant="subtle"
          style={{ alignSelf: "flex-start" }}
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => onChange([...rows, environmentRow()])}
        >
          <Trans>Add variable</Trans>
        </Button>
      </Stack>
    </Fieldset>
  );
}

/** Rows from pasted lines of an .env file: NAME=value. */
function fromText(text: string): EnvironmentRow[] {
  return text
    .split(/\r?\n/)
    .map((line) => /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map((match) => environmentRow(match[1], (match[2] ?? "").replace(/^(["'])(.*)\1$/, "$2")));
}
