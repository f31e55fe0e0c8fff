import { Trans, useLingui } from "@lingui/react/macro";
import { Input, NumberInput, Select, SimpleGrid, Switch } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { DurationInput, type DurationUnit } from "@/ui/form/DurationInput";
import { SlotAmountInput } from "@/ui/form/SlotAmountInput";
import { formatWhole } from "@/ui/format";
import { DefaultHint } from "./DefaultHint";
import { SITE_DEFAULTS, type SiteSetting, type SiteValues } from "./defaults";
import { BELOW, Section } from "./Section";

type NumberSetting = {
  [Name in SiteSetting]: SiteValues[Name] extends number ? Name : never;
}[SiteSetting];

interface Given {
  form: UseFormReturnType<SiteValues>;
}

interface NumberProps extends Given {
  name: NumberSetting;
  label: string;
  /** Shown before the default. */
  text?: string;
  min: number;
  max: number;
}

/** A number field with its default. */
export function NumberField({ form, name, label, text, min, max }: NumberProps) {
  return (
    <NumberInput
      label={label}
      description={
        <>
          {text} <DefaultHint form={form} name={name} text={SITE_DEFAULTS[name]} />
        </>
      }
      inputWrapperOrder={BELOW}
      min={min}
      max={max}
      allowDecimal={false}
      {...form.getInputProps(name)}
      onChange={(value) => form.setFieldValue(name, Number(value) as never)}
    />
  );
}

interface DurationProps extends Given {
  name: NumberSetting;
  label: string;
  /** The unit that the setting is counted in. */
  seconds: number;
  units: DurationUnit[];
}

/** A duration in the unit of the user's choice, with its default. */
function DurationField({ form, name, label, seconds, units }: DurationProps) {
  const { i18n } = useLingui();
  const usual = formatWhole(SITE_DEFAULTS[name] * seconds, i18n.locale);
  return (
    <DurationInput
      data-path={name}
      label={label}
      description={<DefaultHint form={form} name={name} text={usual} />}
      inputWrapperOrder={BELOW}
      size="sm"
      units={units}
      value={form.values[name] * seconds}
      onChange={(span) => form.setFieldValue(name, Math.round(span / seconds) as never)}
      error={form.errors[name]}
    />
  );
}

const GRID = { base: 1, sm: 2 };

/** The password rules. */
export function PasswordSection({ form }: Given) {
  const { t } = useLingui();
  return (
    <Section title={t`Passwords`}>
      <SimpleGrid cols={GRID}>
        <NumberField form={form} name="password_min_length" label={t`Minimum length`} min={8} max={128} />
        <NumberField
          form={form}
          name="password_classes"
          label={t`Character classes (lowercase, uppercase, digits, symbols)`}
          min={1}
          max={4}
        />
        <NumberField form={form} name="password_history" label={t`Password history`} min={0} max={24} />
      </SimpleGrid>
      <Switch
        label={t`Reject passwords that are easy to guess`}
        description={<DefaultHint form={form} name="password_refuse_common" text={<Trans>on</Trans>} />}
        {...form.getInputProps("password_refuse_common", { type: "checkbox" })}
      />
    </Section>
  );
}

/** The sign-in lockout. */
export function LockSection({ form }: Given) {
  const { t } = useLingui();
  return (
    <Section title={t`Account lockout`}>
      <SimpleGrid cols={GRID}>
        <NumberField
          form={form}
          name="lock_attempts"
          label={t`Failed attempts until an account is locked`}
          min={3}
          max={100}
        />
        <NumberField
          form={form}
          name="lock_address_attempts"
          label={t`Failed attempts until an IP address is locked`}
          min={3}
          max={10_000}
        />
        <DurationField
          form={form}
          name="lock_minutes"
          label={t`Lockout duration`}
          seconds={60}
          units={["m", "h"]}
        />
      </SimpleGrid>
    </Section>
  );
}

/** Sign-in duration, and who needs a second factor. */
export function SessionsSection({ form }: Given) {
  const { t } = useLingui();
  const whom = [
    { value: "nobody", label: t`Nobody` },
    { value: "administrators", label: t`Administrators` },
    { value: "everybody", label: t`Everyone` },
  ];
  return (
    <>
      <Section title={t`Sign-in sessions`} text={t`How long a browser stays signed in.`}>
        <SimpleGrid cols={GRID}>
          <DurationField
            form={form}
            name="login_idle_minutes"
            label={t`Idle time-out`}
            seconds={60}
            units={["m", "h", "d"]}
          />
          <DurationField
            form={form}
            name="login_lifetime_hours"
            label={t`Maximum lifetime`}
            seconds={3600}
            units={["h", "d"]}
          />
        </SimpleGrid>
      </Section>
      <Section title={t`Two-factor authentication`}>
        <Select
          label={t`Required for`}
          description={<DefaultHint form={form} name="second_factor" text={<Trans>none</Trans>} />}
          inputWrapperOrder={BELOW}
          allowDeselect={false}
          data={whom}
          {...form.getInputProps("second_factor")}
        />
      </Section>
    </>
  );
}

/** Rate limit, and retention of audit entries and trash. */
export function LimitsSection({ form }: Given) {
  const { t } = useLingui();
  return (
    <>
      <Section title={t`Rate limit`}>
        <NumberField
          form={form}
          name="api_rate_limit"
          label={t`Requests per user in 15 minutes`}
          min={100}
          max={10_000_000}
        />
      </Section>
      <Section title={t`Audit`}>
        <NumberField
          form={form}
          name="audit_retention_days"
          label={t`Days to keep entries (0: forever)`}
          min={0}
          max={36_500}
        />
      </Section>
      <FoldersSection form={form} />
    </>
  );
}

function FoldersSection({ form }: Given) {
  const { t } = useLingui();
  const most = form.values.upload_most_bytes;
  return (
    <Section title={t`Folders`}>
      <SimpleGrid cols={GRID}>
        <NumberField
          form={form}
          name="trash_days"
          label={t`Days in the trash (0: no automatic deletion)`}
          min={0}
          max={3650}
        />
        <Input.Wrapper
          label={t`Maximum size of an uploaded file`}
          labelElement="div"
          error={form.errors.upload_most_bytes}
        >
          <SlotAmountInput
            data-path="upload_most_bytes"
            slot="mem"
            aria-label={t`Maximum size of an uploaded file`}
            placeholder={t`not limited`}
            amount={most === 0 ? null : most}
            onChange={(bytes) => form.setFieldValue("upload_most_bytes", bytes)}
          />
        </Input.Wrapper>
      </SimpleGrid>
    </Section>
  );
}
