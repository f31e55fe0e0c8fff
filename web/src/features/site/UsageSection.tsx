import { Trans, useLingui } from "@lingui/react/macro";
import { Switch, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { DefaultHint } from "./DefaultHint";
import { SITE_DEFAULTS, type SiteValues } from "./defaults";
import { NumberField } from "./NumberSections";
import { PricesInput } from "./PricesInput";
import { BELOW, Section } from "./Section";

/** Prices in statistics, and metrics of sessions. */
export function UsageSection({ form }: { form: UseFormReturnType<SiteValues> }) {
  const { t } = useLingui();
  return (
    <Section title={t`Usage and prices`}>
      <PricesInput
        prices={form.values.slot_prices as Record<string, number>}
        onChange={(prices) => form.setFieldValue("slot_prices", prices)}
        error={form.errors.slot_prices}
      />
      <TextInput
        label={t`Currency`}
        description={<DefaultHint form={form} name="currency" text={SITE_DEFAULTS.currency} />}
        inputWrapperOrder={BELOW}
        maw={180}
        maxLength={3}
        {...form.getInputProps("currency")}
        onChange={(event) => form.setFieldValue("currency", event.currentTarget.value.toUpperCase())}
      />
      <NumberField
        form={form}
        name="statistics_retention_days"
        label={t`Days of statistics to keep (0: all)`}
        min={0}
        max={36_500}
      />
      <Switch
        label={t`Export usage of each session as Prometheus metrics`}
        description={<DefaultHint form={form} name="session_metrics" text={<Trans>off</Trans>} />}
        {...form.getInputProps("session_metrics", { type: "checkbox" })}
      />
    </Section>
  );
}
