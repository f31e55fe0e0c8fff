import { useLingui } from "@lingui/react/macro";
import { modals } from "@mantine/modals";
import { useCallback } from "react";
import { AssignForm, type Holder } from "./AssignForm";

/** Opens the form that assigns a policy. */
export function useAssign() {
  const { t } = useLingui();
  return useCallback(
    (policy: { id: string }, holder: Holder) => {
      const id = modals.open({
        title: t`Resource policy of ${holder.label}`,
        closeButtonProps: { "aria-label": t`Close` },
        children: <AssignForm policy={policy.id} holder={holder} onDone={() => modals.close(id)} />,
      });
    },
    [t],
  );
}
