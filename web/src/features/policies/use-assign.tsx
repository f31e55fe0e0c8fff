import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import { openFormDialog } from "@/ui/form/FormDialog";
import { AssignForm, type Holder } from "./AssignForm";

/** Opens the form that assigns a policy. */
export function useAssign() {
  const { t } = useLingui();
  return useCallback(
    (policy: { id: string }, holder: Holder) =>
      openFormDialog({
        title: t`Resource policy of ${holder.label}`,
        form: (close) => <AssignForm policy={policy.id} holder={holder} onDone={close} />,
      }),
    [t],
  );
}
