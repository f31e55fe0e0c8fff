import { useLingui } from "@lingui/react/macro";
import { Autocomplete, NumberInput, Select, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useCallback } from "react";
import type { Parameter } from "@/api/types";
import { ImageField } from "@/features/sessions/launcher/ImageField";
import { foldersChoiceQuery } from "@/queries/folders";
import type { ValueFault } from "./values";

interface Props {
  parameter: Parameter;
  value?: string;
  error?: ReactNode;
  onChange?: (value: string) => void;
}

/** The input of one parameter, by its type. The value is always a text. */
export function ParameterField({ parameter, value = "", error, onChange = () => undefined }: Props) {
  const { name, type, description, choices = [], min, max } = parameter;
  const { t } = useLingui();
  const common = {
    label: name,
    description: description || undefined,
    error,
    withAsterisk: parameter.default == null && type !== "boolean",
  };
  switch (type) {
    case "integer":
    case "number":
      return (
        <NumberInput
          {...common}
          min={min ?? undefined}
          max={max ?? undefined}
          clampBehavior="none"
          allowDecimal={type === "number"}
          value={value}
          onChange={(next) => onChange(String(next))}
        />
      );
    case "choice":
      return (
        <Select
          {...common}
          data={choices}
          allowDeselect={false}
          value={value || null}
          onChange={(next) => onChange(next ?? "")}
        />
      );
    case "boolean":
      return (
        <Switch
          label={name}
          description={description || undefined}
          error={error}
          checked={value === "true"}
          onChange={(event) => onChange(String(event.currentTarget.checked))}
        />
      );
    case "folder":
      return <FolderField {...common} value={value} onChange={onChange} />;
    case "image":
      return (
        <ImageField
          {...common}
          placeholder={t`Image, or image reference`}
          value={value}
          onChange={onChange}
        />
      );
    default:
      return (
        <TextInput
          {...common}
          spellCheck={false}
          autoComplete="off"
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
  }
}

interface NamedProps {
  label: string;
  description: string | undefined;
  error: ReactNode;
  withAsterisk: boolean;
  value: string;
  onChange: (value: string) => void;
}

function FolderField(props: NamedProps) {
  const { t } = useLingui();
  const folders = useQuery(foldersChoiceQuery).data ?? [];
  const names = [...new Set(folders.map(({ name }) => name))];
  return (
    <Autocomplete
      {...props}
      data={names}
      placeholder={t`Name of a folder`}
      comboboxProps={{ shadow: "md" }}
    />
  );
}

/** The error of a value as text. */
export function useValueText() {
  const { t } = useLingui();
  return useCallback(
    ({ min, max }: Parameter, fault: ValueFault): string => {
      if (fault === "missing") return t`Enter a value.`;
      if (fault === "integer") return t`Enter a whole number.`;
      if (fault === "number") return t`Enter a number.`;
      return fault === "least" ? t`At least ${min ?? ""}` : t`At most ${max ?? ""}`;
    },
    [t],
  );
}
