import { useLingui } from "@lingui/react/macro";
import {
  Checkbox,
  Input,
  MultiSelect,
  PasswordInput,
  SegmentedControl,
  Select,
  TagsInput,
  Textarea,
  TextInput,
} from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useRefusal } from "@/me/may";
import { domainsChoiceQuery } from "@/queries/domains";
import { projectsChoiceQuery } from "@/queries/projects";
import { USER_STATES } from "@/routing/search";
import type { UserValues, Way } from "./form-values";
import { ROLES, USER_STATE_NAMES } from "./words";

interface Props {
  form: UseFormReturnType<UserValues>;
  /** An existing user: the e-mail cannot change. */
  existing: boolean;
}

/** The fields of a user. */
export function UserFields({ form, existing }: Props) {
  const { t, i18n } = useLingui();
  const refusal = useRefusal();
  const domains = useQuery(domainsChoiceQuery).data ?? [];
  const projects = useQuery(projectsChoiceQuery(form.values.domain || undefined)).data ?? [];
  const appoint = refusal("user.appoint");
  const roles = (["user", "domain_admin", "superadmin"] as const).map((value) => ({
    value,
    label: i18n._(ROLES[value]),
  }));
  return (
    <>
      <TextInput
        label={t`E-mail`}
        description={existing ? t`Used to sign in. It cannot be changed later.` : undefined}
        readOnly={existing}
        withAsterisk={!existing}
        autoComplete="off"
        data-autofocus={!existing || undefined}
        {...form.getInputProps("email")}
      />
      <TextInput label={t`Name`} withAsterisk autoComplete="off" {...form.getInputProps("name")} />
      <Select
        label={t`Domain`}
        description={existing ? t`Moving to another domain removes the user from all projects.` : undefined}
        allowDeselect={false}
        disabled={domains.length < 2}
        data={domains.map(({ id, name }) => ({ value: id, label: name }))}
        {...form.getInputProps("domain")}
        onChange={(domain) => form.setValues({ domain: domain ?? form.values.domain, projects: [] })}
      />
      <MultiSelect
        label={t`Projects`}
        placeholder={form.values.projects.length === 0 ? t`None` : undefined}
        searchable
        clearable
        nothingFoundMessage={t`Nothing found`}
        clearButtonProps={{ "aria-label": t`Remove all` }}
        data={projects.map(({ id, name }) => ({ value: id, label: name }))}
        {...form.getInputProps("projects")}
      />
      <Select
        label={t`Role`}
        description={appoint}
        disabled={appoint !== null}
        allowDeselect={false}
        data={roles}
        {...form.getInputProps("role")}
      />
      <Select
        label={t`State`}
        allowDeselect={false}
        data={USER_STATES.map((value) => ({ value, label: i18n._(USER_STATE_NAMES[value]) }))}
        {...form.getInputProps("state")}
      />
      {!existing && <FirstWay form={form} />}
      {(existing || form.values.way === "password" || form.values.way === "generate") && (
        <Checkbox
          label={t`Require a password change at the next sign-in`}
          {...form.getInputProps("must_change_password", { type: "checkbox" })}
        />
      )}
      <TagsInput
        label={t`Allowed IP addresses`}
        description={t`Addresses or networks, such as 192.0.2.0/24. If empty, any address is allowed.`}
        clearable
        clearButtonProps={{ "aria-label": t`Remove all` }}
        splitChars={[",", " "]}
        {...form.getInputProps("addresses")}
      />
      <Textarea
        label={t`Description`}
        autosize
        minRows={2}
        maxLength={500}
        {...form.getInputProps("description")}
      />
    </>
  );
}

/** The initial credentials of a new user. */
function FirstWay({ form }: Pick<Props, "form">) {
  const { t } = useLingui();
  return (
    <>
      <Input.Wrapper label={t`First sign-in`} labelElement="div">
        <SegmentedControl
          fullWidth
          size="xs"
          mt={4}
          aria-label={t`First sign-in`}
          value={form.values.way}
          onChange={(way) => form.setFieldValue("way", way as Way)}
          data={[
            { value: "generate", label: t`Generated password` },
            { value: "link", label: t`One-time link` },
            { value: "password", label: t`Password` },
            { value: "none", label: t`Later` },
          ]}
        />
      </Input.Wrapper>
      {form.values.way === "password" && (
        <PasswordInput
          label={t`Password`}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ "aria-label": t`Show the password` }}
          {...form.getInputProps("password")}
        />
      )}
    </>
  );
}
