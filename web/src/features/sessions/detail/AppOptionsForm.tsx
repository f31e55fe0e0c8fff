import { Trans, useLingui } from "@lingui/react/macro";
import { NumberInput, Select, Switch, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { AppOption, SessionApp, SessionDetail } from "@/api/types";
import { useAddApp, useStartApp } from "@/queries/apps";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { useUnsavedInput } from "@/ui/form/unsaved-input";

interface Props {
  session: SessionDetail;
  app: SessionApp;
  /** Add another app of its kind, instead of starting this one. */
  another: boolean;
  onDone: () => void;
}

/** Options of an app before it starts. */
export function AppOptionsForm({ session, app, another, onDone }: Props) {
  const { t } = useLingui();
  const [options, setOptions] = useState<Record<string, string>>(app.chosen);
  const add = useAddApp();
  const start = useStartApp();
  const busy = add.isPending || start.isPending;
  useUnsavedInput(() => options !== app.chosen && !busy);

  const go = async (event?: FormEvent) => {
    event?.preventDefault();
    try {
      const added = another
        ? await add.mutateAsync({ id: session.id, template: app.kind ?? app.name, options })
        : app;
      await start.mutateAsync({ id: session.id, app: added.name, options: another ? undefined : options });
      onDone();
    } catch {
      // The form shows the problem.
    }
  };

  const given = Object.entries(options).flatMap(([name, value]) => ["--option", `${name}=${value}`]);
  const kind = app.kind ?? app.name;
  const words = another ? ["open", session.id, kind, "--new"] : ["start", session.id, app.name];
  return (
    <Form
      onSubmit={go}
      submit={<Trans>Start</Trans>}
      onCancel={onDone}
      busy={busy}
      problem={add.error ?? start.error}
      command={commandLine("carrel", "app", ...words, ...given)}
    >
      {app.options.length === 0 && t`It has no options.`}
      {app.options.map((option) => (
        <OptionField
          key={option.name}
          option={option}
          value={options[option.name] ?? option.default ?? ""}
          onChange={(value) => setOptions({ ...options, [option.name]: value })}
        />
      ))}
    </Form>
  );
}

interface FieldProps {
  option: AppOption;
  value: string;
  onChange: (value: string) => void;
}

function OptionField({ option, value, onChange }: FieldProps) {
  const common = { label: option.title, description: option.help || undefined };
  if (option.choices && option.choices.length > 0) {
    return (
      <Select
        {...common}
        data={option.choices}
        allowDeselect={false}
        value={value || null}
        onChange={(next) => onChange(next ?? "")}
      />
    );
  }
  if (option.type === "boolean") {
    return (
      <Switch
        {...common}
        checked={value === "true"}
        onChange={(event) => onChange(String(event.currentTarget.checked))}
      />
    );
  }
  if (option.type === "integer") {
    return (
      <NumberInput
        {...common}
        allowDecimal={false}
        value={value}
        onChange={(next) => onChange(String(next))}
      />
    );
  }
  return (
    <TextInput
      {...common}
      spellCheck={false}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
