import { Trans, useLingui } from "@lingui/react/macro";
import { Select, SimpleGrid, Switch } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { SEVERITIES } from "@/features/environments/severities";
import { DefaultHint } from "./DefaultHint";
import type { SiteValues } from "./defaults";
import { NumberField } from "./NumberSections";
import { BELOW, Section } from "./Section";

/** What happens to sessions whose image has known vulnerabilities. */
export function ImageScansSection({ form }: { form: UseFormReturnType<SiteValues> }) {
  const { t, i18n } = useLingui();
  const severities = Object.entries(SEVERITIES).map(([value, { title }]) => ({
    value,
    label: i18n._(title),
  }));
  return (
    <Section title={t`Vulnerabilities of images`}>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Select
          label={t`Sessions of images with vulnerabilities`}
          description={<DefaultHint form={form} name="image_scan_rule" text={<Trans>no rule</Trans>} />}
          inputWrapperOrder={BELOW}
          allowDeselect={false}
          data={[
            { value: "off", label: t`no rule` },
            { value: "warn", label: t`start with a warning` },
            { value: "refuse", label: t`are refused` },
          ]}
          {...form.getInputProps("image_scan_rule")}
        />
        <Select
          label={t`Least severity`}
          description={<DefaultHint form={form} name="image_scan_severity" text={<Trans>critical</Trans>} />}
          inputWrapperOrder={BELOW}
          allowDeselect={false}
          data={severities}
          {...form.getInputProps("image_scan_severity")}
        />
        <NumberField
          form={form}
          name="image_scan_min_epss_percent"
          label={t`Least EPSS, in percent`}
          text={t`Vulnerabilities without an EPSS count as well.`}
          min={0}
          max={100}
        />
        <NumberField form={form} name="image_scan_grace_days" label={t`Days of grace`} min={0} max={365} />
        <NumberField form={form} name="image_scan_hours" label={t`Hours between scans`} min={1} max={2160} />
      </SimpleGrid>
      <Switch
        label={t`Only vulnerabilities with a fix`}
        description={<DefaultHint form={form} name="image_scan_fixable_only" text={<Trans>off</Trans>} />}
        {...form.getInputProps("image_scan_fixable_only", { type: "checkbox" })}
      />
    </Section>
  );
}
