import { useLingui } from "@lingui/react/macro";
import { TextInput } from "@mantine/core";
import { IconTag } from "@tabler/icons-react";
import { useState } from "react";

interface Props {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** A label selector as a filter; used when it is complete, on Enter or when the field is left. */
export function SelectorFilter({ value, onChange }: Props) {
  const { t } = useLingui();
  const [written, setWritten] = useState(value ?? "");
  const [shown, setShown] = useState(value);
  if (value !== shown) {
    setShown(value);
    setWritten(value ?? "");
  }
  const use = () => {
    const selector = written.trim() || undefined;
    if (selector !== value) onChange(selector);
  };
  return (
    <TextInput
      size="xs"
      w={190}
      aria-label={t`Filter by labels`}
      placeholder="zone=eu-1,gpu in (a100,h100)"
      spellCheck={false}
      autoComplete="off"
      maxLength={1000}
      leftSection={<IconTag size={15} aria-hidden />}
      value={written}
      onChange={(event) => setWritten(event.currentTarget.value)}
      onBlur={use}
      onKeyDown={(event) => event.key === "Enter" && use()}
    />
  );
}
