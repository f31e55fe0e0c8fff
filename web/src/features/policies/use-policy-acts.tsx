import { Trans, useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import type { Policy } from "@/api/types";
import { useRefusal } from "@/me/may";
import { useRemovePolicy } from "@/queries/policies";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { openFormDialog } from "@/ui/form/FormDialog";
import { CopyForm } from "./CopyForm";
import { holdersOf } from "./used-by";

/** The actions on resource policies, with the reason for a refusal. */
export function usePolicyActs() {
  const { t } = useLingui();
  const refusal = useRefusal();
  const { mutateAsync: remove } = useRemovePolicy();
  return useMemo(() => {
    const whyKept = (policy: Policy) => {
      if (policy.default) return t`The default policy cannot be removed.`;
      return holdersOf(policy) > 0
        ? t`The policy is in use. Assign another policy to its users first.`
        : null;
    };
    return {
      whyNotMake: refusal("policy.create"),
      whyNotChange: refusal("policy.update"),
      whyNotRemove: (policy: Policy) => refusal("policy.remove") ?? whyKept(policy),
      copy: (policy: Policy) =>
        openFormDialog({
          title: t`Copy ${policy.name}`,
          form: (close) => <CopyForm policy={policy} onDone={close} />,
        }),
      remove: (policy: Policy, onDone?: () => void) =>
        askToConfirm({
          title: t`Remove resource policy`,
          closeLabel: t`Close`,
          confirm: t`Remove`,
          command: commandLine("carrel", "policy", "rm", policy.id),
          onConfirm: async () => {
            await remove(policy.id);
            onDone?.();
          },
          children: (
            <Trans>
              Removes <b>{policy.name}</b>. It is not assigned to anyone. This cannot be undone.
            </Trans>
          ),
        }),
    };
  }, [t, refusal, remove]);
}

export type PolicyActs = ReturnType<typeof usePolicyActs>;
