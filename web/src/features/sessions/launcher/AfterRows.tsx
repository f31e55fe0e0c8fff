import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Checkbox, Fieldset, Group, Input, Select, Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { DependencyFailure } from "@/api/types";
import { rowName, rowResult, rowState } from "@/features/sessions/arrays";
import { SessionBadge } from "@/features/sessions/SessionBadge";
import { useConditionText } from "@/features/sessions/use-condition-text";
import { sessionsListQuery } from "@/queries/sessions";
import { Instant } from "@/ui/Instant";
import { type AfterRow, afterFault, freshAfter } from "./dependencies";

interface Props {
  rows: AfterRow[];
  /** "wait": keep it pending once a condition cannot be met. */
  onFailure: DependencyFailure;
  error?: ReactNode;
  onChange: (part: { after?: AfterRow[]; on_dependency_failure?: DependencyFailure }) => void;
}

/** The sessions and arrays that must end before the new one starts, one row each. */
export function AfterRows({ rows, onFailure, error, onChange }: Props) {
  const { t } = useLingui();
  const change = (index: number, part: Partial<AfterRow>) =>
    onChange({ after: rows.map((row, at) => (at === index ? { ...row, ...part } : row)) });
  return (
    <Fieldset legend={t`Start after other sessions`}>
      <Stack gap="xs">
        {rows.map((row, index) => (
          <AfterFields
            key={row.key}
            row={row}
            number={index + 1}
            repeated={row.session !== "" && afterFault(rows, index)}
            onChange={(part) => change(index, part)}
            onRemove={() => onChange({ after: rows.filter((_, at) => at !== index) })}
          />
        ))}
        {error && <Input.Error>{error}</Input.Error>}
        <Button
          size="compact-xs"
          variant="subtle"
          style={{ alignSelf: "flex-start" }}
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => onChange({ after: [...rows, freshAfter()] })}
        >
          <Trans>Add session</Trans>
        </Button>
        {rows.length > 0 && (
          <Checkbox
            size="xs"
            label={t`Keep it pending if one of them does not end like this, instead of cancelling it`}
            checked={onFailure === "wait"}
            onChange={(event) =>
              onChange({ on_dependency_failure: event.currentTarget.checked ? "wait" : "cancel" })
            }
          />
        )}
      </Stack>
    </Fieldset>
  );
}

interface RowProps {
  row: AfterRow;
  number: number;
  repeated: boolean;
  onChange: (part: Partial<AfterRow>) => void;
  onRemove: () => void;
}

const SEARCH_PAUSE_MS = 200;

/** An array has the id of its first session. */
const ARRAY = "array:";
const choiceOf = (id: string, array: boolean): string => (array ? ARRAY + id : id);

function AfterFields({ row, number, repeated, onChange, onRemove }: RowProps) {
  const { t } = useLingui();
  const conditionText = useConditionText();
  const [typed, setTyped] = useState("");
  const [settled] = useDebouncedValue(typed, SEARCH_PAUSE_MS);
  // The field holds the selected name until another text is typed.
  const q = settled === row.name ? "" : settled;
  const { data } = useInfiniteQuery(sessionsListQuery({ state: "all", q, owner: "me" }));
  const known = data?.pages[0]?.items ?? [];
  const choices = known.map((one) => ({ value: choiceOf(one.id, one.array !== null), label: rowName(one) }));
  const value = row.session && choiceOf(row.session, row.array);
  if (value && choices.every((one) => one.value !== value)) choices.unshift({ value, label: row.name });
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Select
        size="xs"
        style={{ flex: 3 }}
        aria-label={t`Session ${number}`}
        placeholder={t`Select session`}
        searchable
        nothingFoundMessage={t`Nothing found`}
        data={choices}
        filter={({ options }) => options}
        searchValue={typed}
        onSearchChange={setTyped}
        value={value || null}
        error={repeated ? t`It is in the list already.` : null}
        onChange={(chosen, option) =>
          onChange({
            session: chosen?.replace(ARRAY, "") ?? "",
            array: chosen?.startsWith(ARRAY) ?? false,
            name: option?.label ?? "",
          })
        }
        comboboxProps={{ shadow: "md" }}
        renderOption={({ option }) => {
          const session = known.find(({ id, array }) => choiceOf(id, array !== null) === option.value);
          return (
            <Stack gap={2}>
              <Text size="sm">{option.label}</Text>
              {session && (
                <Group gap="xs">
                  <SessionBadge state={rowState(session)} result={rowResult(session)} />
                  <Text size="xs" c="dimmed">
                    <Instant at={session.created_at} />
                  </Text>
                </Group>
              )}
            </Stack>
          );
        }}
      />
      <Select
        size="xs"
        style={{ flex: 2 }}
        aria-label={t`Condition of session ${number}`}
        allowDeselect={false}
        data={(["succeeded", "failed", "ended"] as const).map((one) => ({
          value: one,
          label: conditionText(one),
        }))}
        value={row.condition}
        onChange={(value) => onChange({ condition: (value ?? "succeeded") as AfterRow["condition"] })}
        comboboxProps={{ shadow: "md" }}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        mt={2}
        aria-label={t`Remove session ${number}`}
        onClick={onRemove}
      >
        <IconX size={15} aria-hidden />
      </ActionIcon>
    </Group>
  );
}
