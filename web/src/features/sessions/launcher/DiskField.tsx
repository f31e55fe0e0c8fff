import { useLingui } from "@lingui/react/macro";
import { NumberInput } from "@mantine/core";
import type { ReactNode } from "react";
import type { Check } from "@/api/types";
import { formatSize } from "@/ui/format";

const GIB = 2 ** 30;

interface Props {
  value: number | null;
  /** What the policy allows; undefined while it is not known. */
  range: Check["disk"] | undefined;
  error: ReactNode;
  onChange: (value: number | null) => void;
}

/** What each container may write outside its folders. */
export function DiskField({ value, range, error, onChange }: Props) {
  const { t } = useLingui();
  const standard = range?.default_bytes ? formatSize(range.default_bytes) : t`not limited`;
  const most = range?.most_bytes ? formatSize(range.most_bytes) : null;
  const about = most ? t`Default: ${standard}. At most ${most}.` : t`Default: ${standard}.`;
  return (
    <NumberInput
      label={t`Disk (GiB)`}
      description={`${t`What each container can write outside its folders.`} ${range ? about : ""}`}
      size="xs"
      min={0}
      decimalScale={2}
      placeholder={range?.default_bytes ? String(range.default_bytes / GIB) : t`not limited`}
      value={value === null ? "" : value / GIB}
      error={error}
      onChange={(next) => onChange(next === "" ? null : Math.round(Number(next) * GIB))}
    />
  );
}
