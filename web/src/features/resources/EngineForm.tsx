import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Input, SegmentedControl, Select, TextInput } from "@mantine/core";
import { IconPlugConnected } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Problem } from "@/api/problem";
import type { Engine } from "@/api/types";
import { engineKindsQuery, useCheckSettings, useCreateEngine, useUpdateEngine } from "@/queries/engines";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { SettingFields } from "@/ui/form/SettingFields";
import {
  changedSettings,
  givenSettings,
  type SettingValues,
  settingsOf,
  settingWords,
} from "@/ui/form/settings";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { type ClusterAccess, settingsFor } from "./cluster-access";
import { EngineCheckResult } from "./EngineCheckResult";
import { engineKindTitle, kindText, translatedEngineSettings } from "./engine-words";

interface Props {
  /** The engine to edit; absent for a new one. */
  engine: Engine | undefined;
  onDone: (saved?: Engine) => void;
}

/** Adds or edits an engine. The fields come from the schema of its kind. */
export function EngineForm({ engine, onDone }: Props) {
  const { t, i18n } = useLingui();
  const create = useCreateEngine();
  const update = useUpdateEngine();
  const check = useCheckSettings();
  const kinds = useQuery(engineKindsQuery).data ?? [];
  const [name, setName] = useState(engine?.name ?? "");
  const [kind, setKind] = useState(engine?.kind ?? "");
  const [values, setValues] = useState<SettingValues>(engine?.settings ?? {});
  const sent = engine ? update : create;
  const chosen = kinds.find((one) => one.kind === (kind || kinds[0]?.kind));
  const [access, setAccess] = useState<ClusterAccess>("kubeconfig");
  const every = translatedEngineSettings(i18n, chosen?.kind ?? "", settingsOf(chosen?.settings));
  const asksForAccess = !engine && chosen?.kind === "kubernetes";
  const fields = asksForAccess ? settingsFor(access, every) : every;
  const settings = engine ? changedSettings(fields, engine.settings, values) : givenSettings(fields, values);
  const error = sent.error ?? check.error;
  const wrong = error instanceof Problem ? error.field : null;
  const save = (event?: React.FormEvent) => {
    event?.preventDefault();
    const done = { onSuccess: onDone };
    if (engine) update.mutate({ id: engine.id, ...(name === engine.name ? {} : { name }), settings }, done);
    else create.mutate({ name, kind: chosen?.kind ?? "", settings }, done);
  };
  return (
    <Form
      onSubmit={save}
      submit={engine ? <Trans>Save</Trans> : <Trans>Create</Trans>}
      onCancel={() => onDone()}
      busy={sent.isPending}
      problem={sent.error}
      command={
        engine
          ? commandLine(
              "carrel",
              "engine",
              "edit",
              engine.name,
              "--name",
              name,
              ...settingWords(fields, settings),
            )
          : commandLine(
              "carrel",
              "engine",
              "add",
              chosen?.kind ?? "KIND",
              name || "NAME",
              ...settingWords(fields, settings),
            )
      }
    >
      <TextInput
        label={t`Name`}
        description={t`Lowercase letters, digits and -.`}
        withAsterisk
        maxLength={40}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {!engine && (
        <Select
          label={t`Kind`}
          description={chosen && kindText(i18n, chosen.kind, chosen.description)}
          allowDeselect={false}
          data={kinds.map((one) => ({ value: one.kind, label: engineKindTitle(i18n, one.kind, one.title) }))}
          value={chosen?.kind ?? null}
          onChange={(to) => setKind(to ?? "")}
        />
      )}
      {asksForAccess && (
        <Input.Wrapper label={t`Access to the cluster`} labelElement="div">
          <SegmentedControl
            mt={6}
            fullWidth
            size="xs"
            aria-label={t`Access to the cluster`}
            value={access}
            onChange={(to) => setAccess(to as ClusterAccess)}
            data={[
              { value: "kubeconfig", label: t`Kubeconfig` },
              { value: "token", label: t`Address and token` },
              { value: "inside", label: t`Carrel runs in it` },
            ]}
          />
        </Input.Wrapper>
      )}
      {!engine?.local && (
        <SettingFields
          settings={fields}
          values={values}
          secrets={engine?.secrets}
          errorOf={(setting) => wrong === `settings.${setting}`}
          onChange={(setting, value) => setValues((now) => ({ ...now, [setting]: value }))}
        />
      )}
      {!engine && chosen && (
        <>
          <Button
            variant="default"
            leftSection={<IconPlugConnected size={16} aria-hidden />}
            loading={check.isPending}
            onClick={() => check.mutate({ kind: chosen.kind, settings })}
          >
            <Trans>Check</Trans>
          </Button>
          {check.data && <EngineCheckResult check={check.data} />}
          {check.isError && <ProblemAlert problem={check.error} />}
        </>
      )}
    </Form>
  );
}
