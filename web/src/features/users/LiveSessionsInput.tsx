import { useLingui } from "@lingui/react/macro";
import { Radio, Stack } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  label: ReactNode;
  value: "keep" | "end" | null;
  onChange: (value: "keep" | "end") => void;
}

/** Asks what happens to live sessions. */
export function LiveSessionsInput({ label, value, onChange }: Props) {
  const { t } = useLingui();
  return (
    <Radio.Group label={label} value={value ?? ""} onChange={(next) => onChange(next as "keep" | "end")}>
      <Stack gap="xs" mt={4}>
        <Radio value="keep" label={t`Let them run until they end`} />
        <Radio
          value="end"
          label={t`Terminate now`}
          description={t`All programs in it stop, and files outside mounted folders are deleted.`}
        />
      </Stack>
    </Radio.Group>
  );
}
