import { useLingui } from "@lingui/react/macro";
import { NumberInput, PasswordInput, Select, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import type { Setting, SettingValues } from "./settings";

interface Props {
  settings: readonly Setting[];
  values: SettingValues;
  /** Names of the secrets that are already set. */
  secrets?: readonly string[];
  /** The error of a setting. */
  errorOf: (name: string) => ReactNode;
  disabled?: boolean;
  onChange: (name: string, value: unknown) => void;
}

/** Form fields for the settings schema of a plug-in. */
export function SettingFields({ settings, ...rest }: Props) {
  return settings.map((setting) => <SettingField key={setting.name} setting={setting} {...rest} />);
}

function SettingField({
  setting,
  values,
  secrets = [],
  errorOf,
  disabled,
  onChange,
}: Omit<Props, "settings"> & { setting: Setting }) {
  const { t } = useLingui();
  const { name, kind, title, description, required, usual, example, choices, min, max } = setting;
  const value = values[name];
  const common = {
    label: title,
    description: description || undefined,
    error: errorOf(name),
    disabled,
    withAsterisk: required,
    placeholder: String(usual ?? "") || String(example ?? "") || undefined,
  };
  const written = typeof value === "string" ? value : "";
  const change = (given: unknown) => onChange(name, given);
  switch (kind) {
    case "switch": {
      const { withAsterisk: _, placeholder: __, ...plain } = common;
      const on = typeof value === "boolean" ? value : usual === true;
      return <Switch {...plain} checked={on} onChange={(event) => change(event.currentTarget.checked)} />;
    }
    case "number":
      return (
        <NumberInput
          {...common}
          clampBehavior="none"
          min={min}
          max={max}
          value={typeof value === "number" ? value : ""}
          onChange={(given) => change(given === "" ? undefined : Number(given))}
        />
      );
    case "choice":
      return (
        <Select
          {...common}
          data={choices}
          allowDeselect={!required}
          value={written || (typeof usual === "string" ? usual : null)}
          onChange={(given) => change(given ?? undefined)}
        />
      );
    case "list":
      return (
        <TagsInput
          {...common}
          splitChars={[",", " "]}
          value={Array.isArray(value) ? value.map(String) : []}
          onChange={change}
        />
      );
    case "lines":
    case "secret lines":
      return (
        <Textarea
          {...common}
          placeholder={secrets.includes(name) ? t`Set. Leave empty to keep it` : common.placeholder}
          autosize
          minRows={2}
          maxRows={6}
          spellCheck={false}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          value={written}
          onChange={(event) => change(event.currentTarget.value)}
        />
      );
    case "secret":
      return (
        <PasswordInput
          {...common}
          placeholder={secrets.includes(name) ? t`Set. Leave empty to keep it` : undefined}
          visibilityToggleButtonProps={{ "aria-label": t`Show secret` }}
          autoComplete="new-password"
          value={written}
          onChange={(event) => change(event.currentTarget.value)}
        />
      );
    default:
      return (
        <TextInput
          {...common}
          autoComplete="off"
          spellCheck={false}
          value={written}
          onChange={(event) => change(event.currentTarget.value)}
        />
      );
  }
}
