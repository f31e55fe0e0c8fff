import { Trans, useLingui } from "@lingui/react/macro";
import { Checkbox, Group, Input, NumberInput, Select } from "@mantine/core";
import type { ReactNode } from "react";
import type { Rights } from "@/api/types";
import { DurationInput } from "@/ui/form/DurationInput";
import { SlotAmountInput } from "@/ui/form/SlotAmountInput";
import { SlotLimitsInput } from "@/ui/form/SlotLimitsInput";
import { LIMIT_TEXTS, LIMIT_TITLES, RIGHTS } from "./limit-words";
import { type LimitName, type Measure, type Most, type SlotsDraft, UNLIMITED } from "./limits";

interface Props<T> {
  name: LimitName;
  measure: Exclude<Measure, "names" | "use" | "rights">;
  value: T;
  onChange: (value: T) => void;
  error?: ReactNode;
}

const AT_FIRST: Record<Exclude<Measure, "slots" | "names" | "use" | "rights">, number> = {
  count: 10,
  duration: 86_400,
  bytes: 100 * 2 ** 30,
  priority: 50,
};

/** One limit: a number with its unit, or unlimited. */
export function LimitInput({ name, measure, value, onChange, error }: Props<Most>) {
  const { t, i18n } = useLingui();
  const title = i18n._(LIMIT_TITLES[name]);
  const limited = value !== UNLIMITED;
  const first = measure === "slots" ? 0 : AT_FIRST[measure];
  if (measure === "priority") {
    return (
      <NumberInput
        label={title}
        description={i18n._(LIMIT_TEXTS[name])}
        size="xs"
        min={0}
        max={100}
        clampBehavior="none"
        allowDecimal={false}
        value={Number(value)}
        error={error}
        onChange={(next) => onChange(Number(next))}
      />
    );
  }
  const field = { "aria-label": title, disabled: !limited, placeholder: t`not limited`, error: !!error };
  return (
    <Input.Wrapper
      label={title}
      description={i18n._(LIMIT_TEXTS[name])}
      labelElement="div"
      error={error}
      size="sm"
    >
      <Group gap="sm" mt={6} wrap="nowrap">
        {measure === "duration" ? (
          <DurationInput
            label={title}
            labelled
            error={!!error}
            disabled={!limited}
            placeholder={t`not limited`}
            value={limited ? value : first}
            onChange={onChange}
          />
        ) : measure === "bytes" ? (
          <SlotAmountInput slot="mem" amount={limited ? value : null} onChange={onChange} {...field} />
        ) : (
          <NumberInput
            size="xs"
            style={{ flex: 1 }}
            min={0}
            allowNegative={false}
            allowDecimal={false}
            value={limited ? value : ""}
            onChange={(next) => onChange(Number(next))}
            {...field}
          />
        )}
        <Checkbox
          size="xs"
          label={<Trans>not limited</Trans>}
          aria-label={t`${title}: not limited`}
          checked={!limited}
          onChange={(event) => onChange(event.currentTarget.checked ? UNLIMITED : first)}
        />
      </Group>
    </Input.Wrapper>
  );
}

/** The highest rights inside sessions. */
export function RightsInput({ value, onChange }: { value: Rights; onChange: (value: Rights) => void }) {
  const { i18n } = useLingui();
  return (
    <Select
      size="xs"
      label={i18n._(LIMIT_TITLES.max_rights)}
      description={i18n._(LIMIT_TEXTS.max_rights)}
      allowDeselect={false}
      data={(["plain", "root"] as const).map((rights) => ({ value: rights, label: i18n._(RIGHTS[rights]) }))}
      value={value}
      onChange={(next) => onChange(next === "root" ? "root" : "plain")}
    />
  );
}

/** The slot limits, and the default for slots without one. */
export function SlotsLimitInput({ name, value, onChange, error }: Omit<Props<SlotsDraft>, "measure">) {
  const { t, i18n } = useLingui();
  const title = i18n._(LIMIT_TITLES[name]);
  const { others } = value;
  const choice = [
    { value: UNLIMITED, label: t`not limited` },
    { value: "none", label: t`cannot be used` },
    ...(typeof others === "number" ? [{ value: String(others), label: String(others) }] : []),
  ];
  return (
    <SlotLimitsInput
      label={title}
      description={i18n._(LIMIT_TEXTS[name])}
      rows={value.rows}
      error={error}
      onChange={(rows) => onChange({ ...value, rows })}
      others={
        <Group gap="sm" wrap="nowrap">
          <span style={{ flex: "0 0 8.5rem", fontSize: "var(--mantine-font-size-sm)" }}>
            <Trans>All other slots</Trans>
          </span>
          <Select
            size="xs"
            style={{ flex: 1 }}
            aria-label={t`${title}: all other slots`}
            allowDeselect={false}
            data={choice}
            value={others === null ? "none" : String(others)}
            onChange={(next) =>
              onChange({
                ...value,
                others: next === "none" ? null : next === UNLIMITED ? UNLIMITED : Number(next),
              })
            }
          />
        </Group>
      }
    />
  );
}
