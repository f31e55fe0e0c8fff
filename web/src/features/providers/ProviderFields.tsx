import { useLingui } from "@lingui/react/macro";
import { Checkbox, NumberInput, Select, SimpleGrid, TagsInput, Textarea, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { ProviderValues } from "./form-values";

interface Props {
  form: UseFormReturnType<ProviderValues>;
}

/** How an OpenID provider is reached and read. */
export function OidcFields({ form }: Props) {
  const { t } = useLingui();
  const at = (name: keyof ProviderValues["oidc"]) => form.getInputProps(`oidc.${name}`);
  return (
    <>
      <TextInput
        label={t`Issuer`}
        withAsterisk
        placeholder="https://login.example.org/realms/staff"
        {...at("issuer")}
      />
      <TextInput label={t`Client id`} withAsterisk placeholder="carrel" {...at("client_id")} />
      <TagsInput label={t`Scopes`} splitChars={[",", " "]} {...at("scopes")} />
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <TextInput label={t`Claim of the e-mail`} {...at("email_claim")} />
        <TextInput label={t`Claim of the name`} {...at("name_claim")} />
        <TextInput label={t`Claim of the groups`} {...at("groups_claim")} />
      </SimpleGrid>
      <Checkbox
        label={t`The provider must say of the e-mail that it is verified`}
        {...form.getInputProps("oidc.require_verified_email", { type: "checkbox" })}
      />
      <Checkbox
        label={t`Coming from it proves who it is, where it does not say when they proved it (auth_time)`}
        {...form.getInputProps("oidc.sign_in_confirms", { type: "checkbox" })}
      />
      <TagsInput
        label={t`Counts as a second factor`}
        description={t`Values of amr or acr, such as mfa: who comes with one is not asked again here.`}
        splitChars={[",", " "]}
        {...at("trusted_factors")}
      />
    </>
  );
}

/** How a directory is reached and read. */
export function LdapFields({ form }: Props) {
  const { t } = useLingui();
  const at = (name: keyof ProviderValues["ldap"]) => form.getInputProps(`ldap.${name}`);
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <TextInput label={t`Server`} withAsterisk placeholder="ldap.example.org" {...at("host")} />
        <NumberInput
          label={t`Port`}
          placeholder={form.values.ldap.tls === "tls" ? "636" : "389"}
          min={1}
          max={65_535}
          allowDecimal={false}
          {...at("port")}
          value={form.values.ldap.port ?? ""}
          onChange={(port) => form.setFieldValue("ldap.port", port === "" ? null : Number(port))}
        />
        <Select
          label={t`Encryption`}
          allowDeselect={false}
          data={[
            { value: "starttls", label: "STARTTLS" },
            { value: "tls", label: "TLS" },
            { value: "none", label: t`None: in the open` },
          ]}
          {...at("tls")}
        />
      </SimpleGrid>
      <TextInput
        label={t`Who searches`}
        description={t`A DN; empty: nobody in particular.`}
        placeholder="cn=carrel,dc=example,dc=org"
        {...at("bind_dn")}
      />
      <TextInput
        label={t`Where people are`}
        withAsterisk
        placeholder="ou=people,dc=example,dc=org"
        {...at("user_base")}
      />
      <TextInput label={t`Filter for people`} {...at("user_filter")} />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput label={t`Attribute that never changes`} {...at("subject_attribute")} />
        <TextInput label={t`Attribute of the e-mail`} {...at("email_attribute")} />
        <TextInput label={t`Attribute of the name`} {...at("name_attribute")} />
        <TextInput label={t`Attribute of the groups`} {...at("groups_attribute")} />
        <TextInput label={t`Where groups are`} {...at("group_base")} />
        <TextInput label={t`Filter for groups`} {...at("group_filter")} />
      </SimpleGrid>
    </>
  );
}

/** What every kind of provider has. */
export function SharedFields({ form }: Props) {
  const { t } = useLingui();
  const { kind } = form.values;
  return (
    <>
      <TextInput
        label={t`What the sign-in page calls it`}
        maxLength={64}
        {...form.getInputProps(`${kind}.label`)}
      />
      <Checkbox
        label={t`People who come for the first time get an account`}
        {...form.getInputProps(`${kind}.create_users`, { type: "checkbox" })}
      />
      <TagsInput
        label={t`E-mails that it decides about`}
        description={t`An account that has such an e-mail already is given to whoever the provider says has it.`}
        placeholder="example.org"
        splitChars={[",", " "]}
        {...form.getInputProps(`${kind}.trusted_email_domains`)}
      />
      <Checkbox
        label={t`Its groups may make superadmins`}
        {...form.getInputProps(`${kind}.may_appoint_superadmins`, { type: "checkbox" })}
      />
      <Textarea
        label={t`Certificates to trust besides those of the machine (PEM)`}
        autosize
        minRows={2}
        maxRows={6}
        spellCheck={false}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        {...form.getInputProps(`${kind}.ca`)}
      />
    </>
  );
}
