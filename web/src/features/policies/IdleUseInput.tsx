import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Checkbox, Input, NumberInput, SimpleGrid, Stack } from "@mantine/core";
import { DurationInput } from "@/ui/form/DurationInput";
import { LIMIT_TEXTS, LIMIT_TITLES } from "./limit-words";
import { type IdleUseLimit, UNLIMITED } from "./limits";

const AT_FIRST: IdleUseLimit = { window_s: 3600, grace_s: 600, below: { cpu: 5 } };

/** The measured resources, in display order. */
export const MEASURES: readonly (readonly [measure: string, title: MessageDescriptor])[] = [
  ["cpu", msg`CPU`],
  ["mem", msg`Memory`],
  ["accelerator", msg`Accelerators`],
  ["accelerator_mem", msg`Accelerator memory`],
];

interface Props {
  value: IdleUseLimit | typeof UNLIMITED;
  onChange: (value: IdleUseLimit | typeof UNLIMITED) => void;
}

/** The usage threshold and period after which a session is idle, or never. */
export function IdleUseInput({ value, onChange }: Props) {
  const { t, i18n } = useLingui();
  const title = i18n._(LIMIT_TITLES.idle_use);
  const use = value === UNLIMITED ? null : value;
  return (
    <Input.Wrapper
      label={title}
      description={i18n._(LIMIT_TEXTS.idle_use)}
      labelElement="div"
      error={use && Object.keys(use.below).length === 0 && <Trans>Enter at least one threshold.</Trans>}
      size="sm"
    >
      <Stack gap="xs" mt={6}>
        <Checkbox
          size="xs"
          label={<Trans>not limited</Trans>}
          aria-label={t`${title}: not limited`}
          checked={!use}
          onChange={(event) => onChange(event.currentTarget.checked ? UNLIMITED : AT_FIRST)}
        />
        {use && (
          <>
            <SimpleGrid cols={2} spacing="sm">
              {MEASURES.map(([measure, name]) => (
                <NumberInput
                  key={measure}
                  size="xs"
                  label={i18n._(name)}
                  placeholder={t`ignored`}
                  suffix=" %"
                  min={1}
                  max={100}
                  clampBehavior="none"
                  allowDecimal={false}
                  value={use.below[measure] ?? ""}
                  onChange={(next) => onChange({ ...use, below: withMeasure(use.below, measure, next) })}
                />
              ))}
            </SimpleGrid>
            <DurationInput
              label={t`Time window`}
              value={use.window_s}
              onChange={(window_s) => onChange({ ...use, window_s })}
            />
            <DurationInput
              label={t`Grace period after start`}
              value={use.grace_s}
              onChange={(grace_s) => onChange({ ...use, grace_s })}
            />
          </>
        )}
      </Stack>
    </Input.Wrapper>
  );
}

function withMeasure(
  below: IdleUseLimit["below"],
  measure: string,
  percent: number | string,
): IdleUseLimit["below"] {
  const { [measure]: _, ...others } = below;
  return percent === "" ? others : { ...others, [measure]: Number(percent) };
}
