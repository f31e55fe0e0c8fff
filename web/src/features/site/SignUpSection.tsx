import { Trans, useLingui } from "@lingui/react/macro";
import { Select, SimpleGrid, Switch, TagsInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { domainsChoiceQuery } from "@/queries/domains";
import { projectsChoiceQuery } from "@/queries/projects";
import { DefaultHint } from "./DefaultHint";
import type { SiteValues } from "./defaults";
import { NumberField } from "./NumberSections";
import { Section } from "./Section";

/** Whether people may make accounts of their own, and where they come into. */
export function SignUpSection({ form }: { form: UseFormReturnType<SiteValues> }) {
  const { t } = useLingui();
  const domains = useQuery(domainsChoiceQuery).data ?? [];
  const domain = form.values.sign_up_domain;
  const projects =
    useQuery({ ...projectsChoiceQuery(domain ?? undefined), enabled: domain !== null }).data ?? [];
  const off = !form.values.sign_up;
  return (
    <Section title={t`Self sign-up`}>
      <Switch
        label={t`People may make accounts of their own`}
        description={<DefaultHint form={form} name="sign_up" said={<Trans>off</Trans>} />}
        {...form.getInputProps("sign_up", { type: "checkbox" })}
      />
      <Switch
        label={t`They must follow a link in a mail first`}
        description={<DefaultHint form={form} name="sign_up_verification" said={<Trans>on</Trans>} />}
        disabled={off}
        {...form.getInputProps("sign_up_verification", { type: "checkbox" })}
      />
      <NumberField
        form={form}
        name="sign_up_keep_days"
        label={t`Days until an account that nobody verified is deleted; 0: never`}
        min={0}
        max={3650}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Select
          label={t`Domain that they come into`}
          disabled={off}
          clearable
          clearButtonProps={{ "aria-label": t`None` }}
          data={domains.map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps("sign_up_domain")}
          onChange={(next) => form.setValues({ sign_up_domain: next, sign_up_project: null })}
        />
        <Select
          label={t`Project that they come into`}
          disabled={off || domain === null}
          clearable
          clearButtonProps={{ "aria-label": t`None` }}
          data={projects.map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps("sign_up_project")}
        />
      </SimpleGrid>
      <TagsInput
        label={t`Whose e-mail ends in one of these`}
        description={<DefaultHint form={form} name="sign_up_email_domains" said={<Trans>anybody</Trans>} />}
        inputWrapperOrder={["label", "input", "description", "error"]}
        placeholder="example.org"
        disabled={off}
        splitChars={[",", " "]}
        {...form.getInputProps("sign_up_email_domains")}
      />
    </Section>
  );
}
