import { Trans, useLingui } from "@lingui/react/macro";
import { Checkbox, Input, TagsInput } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  label: string;
  description?: string;
  /** Names; null means all. */
  value: string[] | null;
  onChange: (value: string[] | null) => void;
  error?: ReactNode;
}

/** Which items of a type are allowed: all, or the listed ones. */
export function AllowedInput({ label, description, value, onChange, error }: Props) {
  const { t } = useLingui();
  return (
    <Input.Wrapper label={label} description={description} labelElement="div" error={error}>
      <Checkbox
        mt={4}
        size="xs"
        label={<Trans>all, including future ones</Trans>}
        aria-label={t`${label}: all`}
        checked={value === null}
        onChange={(event) => onChange(event.currentTarget.checked ? null : [])}
      />
      {value !== null && (
        <TagsInput
          mt={6}
          size="xs"
          aria-label={label}
          placeholder={value.length === 0 ? t`None: enter names` : undefined}
          value={value}
          onChange={onChange}
          splitChars={[",", " "]}
        />
      )}
    </Input.Wrapper>
  );
}
