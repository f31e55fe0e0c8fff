import { Trans, useLingui } from "@lingui/react/macro";
import { Switch, TagsInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { DefaultHint } from "./DefaultHint";
import type { SiteValues } from "./defaults";
import { BELOW, Section } from "./Section";

/** From where sources are imported. */
export function ImportsSection({ form }: { form: UseFormReturnType<SiteValues> }) {
  const { t } = useLingui();
  return (
    <Section title={t`Import & Run`}>
      <TagsInput
        label={t`Permitted sources`}
        description={<DefaultHint form={form} name="import_sources" text={<Trans>all</Trans>} />}
        inputWrapperOrder={BELOW}
        placeholder="github.com/acme"
        splitChars={[",", " "]}
        {...form.getInputProps("import_sources")}
      />
    </Section>
  );
}

/** Who may see the nodes. */
export function NodesSection({ form }: { form: UseFormReturnType<SiteValues> }) {
  const { t } = useLingui();
  return (
    <Section title={t`Nodes`}>
      <Switch
        label={t`Show nodes to users who can use them`}
        description={<DefaultHint form={form} name="nodes_visible" text={<Trans>off</Trans>} />}
        {...form.getInputProps("nodes_visible", { type: "checkbox" })}
      />
    </Section>
  );
}

/** What webhooks may reach. */
export function WebhooksSection({ form }: { form: UseFormReturnType<SiteValues> }) {
  const { t } = useLingui();
  return (
    <Section title={t`Webhooks`}>
      <Switch
        label={t`Allow private addresses`}
        description={<DefaultHint form={form} name="webhook_private_addresses" text={<Trans>off</Trans>} />}
        {...form.getInputProps("webhook_private_addresses", { type: "checkbox" })}
      />
    </Section>
  );
}
