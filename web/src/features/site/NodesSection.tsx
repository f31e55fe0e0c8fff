import { Trans, useLingui } from "@lingui/react/macro";
import { Switch, TagsInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { DefaultHint } from "./DefaultHint";
import type { SiteValues } from "./defaults";
import { NumberField } from "./NumberSections";
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

/** Who may see the nodes, and when images are removed from them. */
export function NodesSection({ form }: { form: UseFormReturnType<SiteValues> }) {
  const { t } = useLingui();
  return (
    <Section title={t`Nodes`}>
      <Switch
        label={t`Show nodes to users who can use them`}
        description={<DefaultHint form={form} name="nodes_visible" text={<Trans>off</Trans>} />}
        {...form.getInputProps("nodes_visible", { type: "checkbox" })}
      />
      <NumberField
        form={form}
        name="image_cleanup_days"
        label={t`Days without use after which images are removed (0: never)`}
        min={0}
        max={3650}
      />
      <NumberField
        form={form}
        name="image_cleanup_free_percent"
        label={t`Free space of the disk, in percent, below which unused images are removed (0: never)`}
        min={0}
        max={90}
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
