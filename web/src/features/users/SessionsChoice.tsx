import { useLingui } from "@lingui/react/macro";
import { Radio, Stack } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  label: ReactNode;
  value: "keep" | "end" | null;
  onChange: (value: "keep" | "end") => void;
}

/** Asks what becomes of live sessions. */
export function SessionsChoice({ label, value, onChange }: Props) {
  const { t } = useLingui();
  return (
    <Radio.Group label={label} value={value ?? ""} onChange={(next) => onChange(next as "keep" | "end")}>
      <Stack gap="xs" mt={4}>
        <Radio value="keep" label={t`They run to completion`} />
        <Radio
          value="end"
          label={t`They end now`}
          description={t`Everything that runs inside stops, and the files inside are deleted.`}
        />
      </Stack>
    </Radio.Group>
  );
}
