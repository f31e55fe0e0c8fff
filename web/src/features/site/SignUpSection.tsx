import { Trans, useLingui } from "@lingui/react/macro";
import { Select, SimpleGrid, Switch, TagsInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { domainsChoiceQuery } from "@/queries/domains";
import { projectsChoiceQuery } from "@/queries/projects";
import { DefaultHint } from "./DefaultHint";
import type { SiteValues } from "./defaults";
import { NumberField } from "./NumberSections";
import { BELOW, Section } from "./Section";

/** Whether users may sign up, and their default domain and project. */
export function SignUpSection({ form }: { form: UseFormReturnType<SiteValues> }) {
  const { t } = useLingui();
  const domains = useQuery(domainsChoiceQuery).data ?? [];
  const domain = form.values.sign_up_domain;
  const projects =
    useQuery({ ...projectsChoiceQuery(domain ?? undefined), enabled: domain !== null }).data ?? [];
  const off = !form.values.sign_up;
  return (
    <Section title={t`Sign-up`}>
      <Switch
        label={t`Allow users to sign up`}
        description={<DefaultHint form={form} name="sign_up" text={<Trans>off</Trans>} />}
        {...form.getInputProps("sign_up", { type: "checkbox" })}
      />
      <Switch
        label={t`Require e-mail verification`}
        description={<DefaultHint form={form} name="sign_up_verification" text={<Trans>on</Trans>} />}
        disabled={off}
        {...form.getInputProps("sign_up_verification", { type: "checkbox" })}
      />
      <NumberField
        form={form}
        name="sign_up_keep_days"
        label={t`Days until unverified accounts are deleted (0: never)`}
        min={0}
        max={3650}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Select
          label={t`Domain of new users`}
          disabled={off}
          clearable
          clearButtonProps={{ "aria-label": t`None` }}
          data={domains.map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps("sign_up_domain")}
          onChange={(next) => form.setValues({ sign_up_domain: next, sign_up_project: null })}
        />
        <Select
          label={t`Project of new users`}
          disabled={off || domain === null}
          clearable
          clearButtonProps={{ "aria-label": t`None` }}
          data={projects.map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps("sign_up_project")}
        />
      </SimpleGrid>
      <TagsInput
        label={t`Allowed e-mail domains`}
        description={<DefaultHint form={form} name="sign_up_email_domains" text={<Trans>anyone</Trans>} />}
        inputWrapperOrder={BELOW}
        placeholder="example.org"
        disabled={off}
        splitChars={[",", " "]}
        {...form.getInputProps("sign_up_email_domains")}
      />
    </Section>
  );
}
