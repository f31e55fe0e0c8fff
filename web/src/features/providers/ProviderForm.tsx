import { Trans, useLingui } from "@lingui/react/macro";
import { PasswordInput, SegmentedControl, Select, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Provider } from "@/api/types";
import { useMe } from "@/me/use-me";
import { domainsChoiceQuery } from "@/queries/domains";
import { useCreateProvider, useUpdateProvider } from "@/queries/providers";
import { Form } from "@/ui/form/Form";
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
import { LdapFields, OidcFields, SharedFields } from "./ProviderFields";

interface Props {
  /** The one to change; without it another is set up. */
  provider: Provider | undefined;
  onDone: (saved?: Provider) => void;
}

/** Sets an identity provider up, or changes one. */
export function ProviderForm({ provider, onDone }: Props) {
  const { t } = useLingui();
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
          /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name) ? null : t`Small letters, digits and -`,
        oidc: {
          issuer: (issuer, { kind }) => (kind === "oidc" && issuer === "" ? t`Where the provider is.` : null),
          client_id: (id, { kind }) =>
            kind === "oidc" && id === "" ? t`What Carrel is called there.` : null,
        },
        ldap: {
          host: (host, { kind }) => (kind === "ldap" && host === "" ? t`Where the directory is.` : null),
          user_base: (base, { kind }) => (kind === "ldap" && base === "" ? t`Where people are found.` : null),
        },
        mapping: (rules) =>
          rules.some(({ group, project, role }) => group === "" || (project === "" && role === ""))
            ? t`Each rule needs a group, and a project or a role.`
            : null,
      },
    },
    sent.error,
  );
  const { values } = form;
  const save = form.onSubmit(() => {
    const done = { onSuccess: onDone };
    if (provider) update.mutate({ id: provider.id, ...toUpdateProvider(before, values) }, done);
    else create.mutate(toCreateProvider(values), done);
  }, focusFirst(form));
  return (
    <Form
      onSubmit={save}
      submit={provider ? <Trans>Save</Trans> : <Trans>Set up</Trans>}
      onCancel={() => onDone()}
      busy={sent.isPending}
      problem={sent.error}
      command={providerCommand(values, provider !== undefined)}
    >
      {!provider && (
        <SegmentedControl
          aria-label={t`Kind of provider`}
          data={[
            { value: "oidc", label: "OpenID Connect" },
            { value: "ldap", label: "LDAP" },
          ]}
          value={values.kind}
          onChange={(kind) => form.setFieldValue("kind", kind as ProviderValues["kind"])}
        />
      )}
      <TextInput
        label={t`Name`}
        description={t`Part of addresses: small letters, digits and -.`}
        withAsterisk
        readOnly={provider !== undefined}
        maxLength={40}
        placeholder="corp"
        {...form.getInputProps("name")}
      />
      <Switch label={t`Offered at the sign-in`} {...form.getInputProps("active", { type: "checkbox" })} />
      {values.kind === "oidc" ? <OidcFields form={form} /> : <LdapFields form={form} />}
      <PasswordInput
        label={values.kind === "oidc" ? t`Secret of the client` : t`Password of who searches`}
        description={t`It is kept sealed and never shown again.`}
        placeholder={provider?.secret_set ? t`One is set; leave this empty to keep it` : undefined}
        autoComplete="new-password"
        visibilityToggleButtonProps={{ "aria-label": t`Show the secret` }}
        {...form.getInputProps("secret")}
      />
      <Select
        label={t`Domain that new people come into`}
        allowDeselect={false}
        data={domains.map(({ id, name }) => ({ value: id, label: name }))}
        {...form.getInputProps("domain")}
      />
      <SharedFields form={form} />
      <MappingInput
        rules={values.mapping}
        domain={values.domain}
        superadmins={values[values.kind].may_appoint_superadmins}
        error={form.errors.mapping}
        onChange={(rules) => form.setFieldValue("mapping", rules)}
      />
    </Form>
  );
}
