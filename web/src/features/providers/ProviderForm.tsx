import { Trans, useLingui } from "@lingui/react/macro";
import { SegmentedControl, Select, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Problem } from "@/api/problem";
import type { Provider } from "@/api/types";
import { useMe } from "@/me/use-me";
import { domainsChoiceQuery } from "@/queries/domains";
import { providerKindsQuery, useCreateProvider, useUpdateProvider } from "@/queries/providers";
import { Form } from "@/ui/form/Form";
import { SettingFields } from "@/ui/form/SettingFields";
import { changedSettings, givenSettings, settingsOf } from "@/ui/form/settings";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { providerCommand } from "./command";
import {
  freshProvider,
  type ProviderValues,
  providerValues,
  toCreateProvider,
  toUpdateProvider,
} from "./form-values";
import { MappingInput } from "./MappingInput";
import { translatedProviderSettings } from "./words";

interface Props {
  /** The provider to edit; absent for a new one. */
  provider: Provider | undefined;
  onDone: (saved?: Provider) => void;
}

/** Creates or edits an identity provider. */
export function ProviderForm({ provider, onDone }: Props) {
  const { t, i18n } = useLingui();
  const me = useMe();
  const create = useCreateProvider();
  const update = useUpdateProvider();
  const domains = useQuery(domainsChoiceQuery).data ?? [];
  const sent = provider ? update : create;
  const [before] = useState(() => (provider ? providerValues(provider) : freshProvider(me.user.domain.id)));
  const form = useProblemForm<ProviderValues>(
    {
      initialValues: before,
      validate: {
        name: (name) =>
          /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name) ? null : t`Lowercase letters, digits and -`,
        mapping: (rules) =>
          rules.some(({ group, project, role }) => group === "" || (project === "" && role === ""))
            ? t`Each mapping needs a group and a project or a role.`
            : null,
      },
    },
    sent.error,
  );
  const { values } = form;
  const kinds = useQuery(providerKindsQuery).data ?? [];
  const settings = translatedProviderSettings(
    i18n,
    values.kind,
    settingsOf(kinds.find(({ kind }) => kind === values.kind)?.settings),
  );
  const given = provider
    ? changedSettings(settings, before.settings, values.settings)
    : givenSettings(settings, values.settings);
  const wrong = sent.error instanceof Problem ? sent.error.field : null;
  const save = form.onSubmit(() => {
    const done = { onSuccess: onDone };
    if (provider) update.mutate({ id: provider.id, ...toUpdateProvider(settings, before, values) }, done);
    else create.mutate(toCreateProvider(settings, values), done);
  }, focusFirst(form));
  return (
    <Form
      onSubmit={save}
      submit={provider ? <Trans>Save</Trans> : <Trans>Create</Trans>}
      onCancel={() => onDone()}
      busy={sent.isPending}
      problem={sent.error}
      command={providerCommand(values, settings, given, provider !== undefined)}
    >
      {!provider && (
        <SegmentedControl
          aria-label={t`Provider type`}
          data={kinds.map(({ kind, title }) => ({ value: kind, label: title }))}
          value={values.kind}
          onChange={(kind) => form.setFieldValue("kind", kind)}
        />
      )}
      <TextInput
        label={t`Name`}
        description={t`Used in URLs. Lowercase letters, digits and -.`}
        withAsterisk
        readOnly={provider !== undefined}
        maxLength={40}
        placeholder="corp"
        {...form.getInputProps("name")}
      />
      <Switch label={t`Shown on the sign-in page`} {...form.getInputProps("active", { type: "checkbox" })} />
      <SettingFields
        settings={settings}
        values={values.settings}
        secrets={provider?.secrets}
        errorOf={(name) => wrong?.startsWith(`settings.${name}`)}
        onChange={(name, value) => form.setFieldValue("settings", { ...values.settings, [name]: value })}
      />
      <Select
        label={t`Domain of new users`}
        allowDeselect={false}
        data={domains.map(({ id, name }) => ({ value: id, label: name }))}
        {...form.getInputProps("domain")}
      />
      <MappingInput
        rules={values.mapping}
        domain={values.domain}
        superadmins={values.settings.may_appoint_superadmins === true}
        error={form.errors.mapping}
        onChange={(rules) => form.setFieldValue("mapping", rules)}
      />
    </Form>
  );
}
