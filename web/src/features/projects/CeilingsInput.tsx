import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { type SlotLimit, SlotLimitsInput } from "@/ui/form/SlotLimitsInput";

interface Props {
  rows: SlotLimit[];
  onChange: (rows: SlotLimit[]) => void;
  error?: ReactNode;
}

/** The ceiling of each slot, or unlimited. */
export function CeilingsInput(props: Props) {
  const { t } = useLingui();
  return (
    <SlotLimitsInput
      label={t`Limits`}
      description={t`The total that all its sessions can hold.`}
      {...props}
    />
  );
}
