import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Stack } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMemo } from "react";
import type { ActionName } from "@/api/actions";
import type { Domain } from "@/api/types";
import { useRefusal } from "@/me/may";
import { useMe } from "@/me/use-me";
import { useRemoveDomain, useUpdateDomain } from "@/queries/domains";
import { useProblemText } from "@/sentences/use-problem-text";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";

/** The actions on domains, with the reason for a refusal. */
export function useDomainActs() {
  const { t } = useLingui();
  const me = useMe();
  const refusal = useRefusal();
  const problemText = useProblemText();
  const { mutateAsync: update } = useUpdateDomain();
  const { mutateAsync: remove } = useRemoveDomain();
  return useMemo(() => {
    const why = (action: ActionName, domain: Domain) => refusal(action, { domain: domain.id });
    const holds = ({ users, projects }: Domain) =>
      users + projects > 0 ? t`The domain still has users or active projects.` : null;
    return {
      why,
      whyNotDisable: (domain: Domain) =>
        why("domain.update", domain) ??
        (domain.id === me.user.domain.id
          ? t`This is your own domain. Disabling it would sign you out.`
          : null),
      whyNotRemove: (domain: Domain) => why("domain.remove", domain) ?? holds(domain),
      disable: (domain: Domain) =>
        askToConfirm({
          title: t`Disable domain`,
          closeLabel: t`Close`,
          confirm: t`Disable`,
          command: commandLine("carrel", "domain", "disable", domain.name),
          onConfirm: () => update({ id: domain.id, active: false }),
          children: (
            <Stack gap="xs">
              <div>
                <Plural
                  value={domain.users}
                  _0="The domain has no users."
                  one="# user loses access and is signed out immediately."
                  other="# users lose access and are signed out immediately."
                />
              </div>
              <div>
                <Trans>
                  <b>{domain.name}</b> accepts no new sessions. Live sessions keep running. You can enable it
                  again.
                </Trans>
              </div>
            </Stack>
          ),
        }),
      enable: async (domain: Domain) => {
        try {
          await update({ id: domain.id, active: true });
        } catch (thrown) {
          notifications.show({
            color: "red",
            title: t`Could not enable ${domain.name}`,
            message: problemText(thrown).detail,
          });
        }
      },
      remove: (domain: Domain, onDone?: () => void) =>
        askToConfirm({
          title: t`Remove domain`,
          closeLabel: t`Close`,
          confirm: t`Remove`,
          typedName: domain.name,
          command: commandLine("carrel", "domain", "rm", domain.name),
          onConfirm: async () => {
            await remove(domain.id);
            onDone?.();
          },
          children: (
            <Trans>
              Removes <b>{domain.name}</b>, its limits and its access rules. Past sessions and the audit trail
              keep its name. This cannot be undone.
            </Trans>
          ),
        }),
    };
  }, [t, me, refusal, problemText, update, remove]);
}

export type DomainActs = ReturnType<typeof useDomainActs>;
