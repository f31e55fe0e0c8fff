import { useLingui } from "@lingui/react/macro";
import { Select } from "@mantine/core";
import { useMemo } from "react";
import { useKindText } from "@/sentences/kinds";
import { AUDITED_KINDS, actionsOfKind, labelOf } from "./sentences/nouns";

interface Props {
  value: string | undefined;
  onChange: (action: string | undefined) => void;
}

/** Selects an action, or all of a kind, grouped by what they change. */
export function ActionSelect({ value, onChange }: Props) {
  const { t, i18n } = useLingui();
  const kindText = useKindText();
  const groups = useMemo(
    () =>
      AUDITED_KINDS.map((kind) => ({ kind, group: kindText(kind) }))
        .sort((one, other) => one.group.localeCompare(other.group, i18n.locale))
        .map(({ kind, group }) => ({
          group,
          items: [
            { value: `${kind}.*`, label: t`${group}: All actions` },
            ...actionsOfKind(kind).map((action) => {
              const label = labelOf(action);
              return { value: action, label: `${group}: ${label ? i18n._(label) : action}` };
            }),
          ],
        })),
    [t, i18n, kindText],
  );
  return (
    <Select
      size="xs"
      w={180}
      aria-label={t`Any action`}
      placeholder={t`Any action`}
      searchable
      clearable
      nothingFoundMessage={t`Nothing found`}
      clearButtonProps={{ "aria-label": t`Any action` }}
      data={groups}
      renderOption={({ option }) => option.label.slice(option.label.indexOf(": ") + 2)}
      value={value ?? null}
      onChange={(action) => onChange(action ?? undefined)}
      comboboxProps={{ width: 320, position: "bottom-start" }}
    />
  );
}
