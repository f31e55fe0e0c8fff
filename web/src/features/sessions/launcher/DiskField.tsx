import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { Check } from "@/api/types";
import { SizeInput } from "@/ui/form/SizeInput";
import { formatSize } from "@/ui/format";

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
    <SizeInput
      label={t`Disk`}
      description={`${t`What each container can write outside its folders.`} ${range ? about : ""}`}
      placeholder={range?.default_bytes ? formatSize(range.default_bytes) : t`not limited`}
      bytes={value}
      error={error}
      onChange={onChange}
      onClear={() => onChange(null)}
    />
  );
}
