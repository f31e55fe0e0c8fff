import { useLingui } from "@lingui/react/macro";
import { PasswordInput, Switch, TextInput } from "@mantine/core";

/** A setting of a back end, as its JSON schema describes it. */
export interface SettingSchema {
  type?: string;
  title?: string;
  description?: string;
  default?: unknown;
  writeOnly?: boolean;
}

interface Props {
  properties: Readonly<Record<string, SettingSchema>>;
  required: readonly string[];
  /** What is written in each; what is left empty is as usual. */
  values: Readonly<Record<string, string>>;
  /** Secrets that are set already. */
  secrets: readonly string[];
  onChange: (name: string, value: string) => void;
}

/** A field for each setting of a back end. Titles and descriptions are the back end's own. */
export function SchemaFields({ properties, required, values, secrets, onChange }: Props) {
  const { t } = useLingui();
  return Object.entries(properties).map(([name, setting]) => {
    const shared = {
      label: setting.title ?? name,
      description: setting.description,
      withAsterisk: required.includes(name),
    };
    if (setting.type === "boolean") {
      const checked = (values[name] || String(setting.default)) === "true";
      return (
        <Switch
          key={name}
          {...shared}
          checked={checked}
          onChange={(event) => onChange(name, String(event.currentTarget.checked))}
        />
      );
    }
    const field = {
      ...shared,
      value: values[name] ?? "",
      onChange: (event: React.ChangeEvent<HTMLInputElement>) => onChange(name, event.currentTarget.value),
    };
    return setting.writeOnly ? (
      <PasswordInput
        key={name}
        {...field}
        placeholder={secrets.includes(name) ? t`One is set; leave this empty to keep it` : undefined}
        autoComplete="new-password"
        visibilityToggleButtonProps={{ "aria-label": t`Show the secret` }}
      />
    ) : (
      <TextInput
        key={name}
        {...field}
        placeholder={setting.default == null ? undefined : String(setting.default)}
      />
    );
  });
}
