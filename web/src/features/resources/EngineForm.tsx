import { Trans, useLingui } from "@lingui/react/macro";
import { Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Engine } from "@/api/types";
import { engineKindsQuery, useCreateEngine, useUpdateEngine } from "@/queries/engines";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { SchemaFields, type SettingSchema } from "./SchemaFields";

interface Props {
  /** The one to change; without it another is added. */
  engine: Engine | undefined;
  onDone: (saved?: Engine) => void;
}

/** Adds an engine, or changes one. Its fields come from the schema of its kind. */
export function EngineForm({ engine, onDone }: Props) {
  const { t } = useLingui();
  const create = useCreateEngine();
  const update = useUpdateEngine();
  const kinds = useQuery(engineKindsQuery).data ?? [];
  const [name, setName] = useState(engine?.name ?? "");
  const [kind, setKind] = useState(engine?.kind ?? "");
  const [before] = useState(() => textsOf(engine?.settings ?? {}));
  const [values, setValues] = useState<Record<string, string>>(before);
  const sent = engine ? update : create;
  const chosen = kinds.find((one) => one.kind === (kind || kinds[0]?.kind));
  const { properties = {}, required = [] } = (chosen?.settings ?? {}) as {
    properties?: Record<string, SettingSchema>;
    required?: string[];
  };
  const settings = changes(before, values);
  const save = (event?: React.FormEvent) => {
    event?.preventDefault();
    const done = { onSuccess: onDone };
    if (engine) update.mutate({ id: engine.id, ...(name === engine.name ? {} : { name }), settings }, done);
    else create.mutate({ name, kind: chosen?.kind ?? "", settings }, done);
  };
  return (
    <Form
      onSubmit={save}
      submit={engine ? <Trans>Save</Trans> : <Trans>Add</Trans>}
      onCancel={() => onDone()}
      busy={sent.isPending}
      problem={sent.error}
      command={
        engine
          ? commandLine("carrel", "engine", "edit", engine.name, "--name", name)
          : commandLine("carrel", "engine", "add", name || "NAME", chosen?.kind ?? "KIND")
      }
    >
      <TextInput
        label={t`Name`}
        description={t`Small letters, digits and -.`}
        withAsterisk
        maxLength={40}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {!engine && (
        <Select
          label={t`Kind`}
          description={chosen?.description}
          allowDeselect={false}
          data={kinds.map((one) => ({ value: one.kind, label: one.title }))}
          value={chosen?.kind ?? null}
          onChange={(to) => setKind(to ?? "")}
        />
      )}
      {!engine?.local && (
        <SchemaFields
          properties={properties}
          required={required}
          values={values}
          secrets={engine?.secrets ?? []}
          onChange={(setting, value) => setValues((now) => ({ ...now, [setting]: value }))}
        />
      )}
    </Form>
  );
}

const textsOf = (settings: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));

/** What is sent: the settings that are others now; null for one that is as usual again. */
function changes(before: Record<string, string>, after: Record<string, string>) {
  const changed = Object.entries(after).filter(([name, value]) => value !== (before[name] ?? ""));
  return Object.fromEntries(changed.map(([name, value]) => [name, value === "" ? null : value]));
}
