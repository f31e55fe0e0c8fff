import { useLingui } from "@lingui/react/macro";
import { notifications } from "@mantine/notifications";
import { useMemo } from "react";
import type { ActionName } from "@/api/actions";
import type { User } from "@/api/types";
import { useRefusal } from "@/me/may";
import { useMe } from "@/me/use-me";
import { useResetFactors } from "@/queries/factors";
import { useUpdateUser } from "@/queries/users";
import { useProblemText } from "@/sentences/use-problem-text";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { openFormDialog } from "@/ui/form/FormDialog";
import { BulkEditDialog } from "./BulkEditDialog";
import { DisableDialog } from "./DisableDialog";
import { PurgeDialog } from "./PurgeDialog";
import { ranksAbove } from "./words";

/** The actions on users, with the reason for a refusal. */
export function useUserActs() {
  const { t } = useLingui();
  const me = useMe();
  const refusal = useRefusal();
  const problemText = useProblemText();
  const { mutateAsync: update } = useUpdateUser();
  const { mutateAsync: reset } = useResetFactors();

  return useMemo(() => {
    /** Why the current user may not act on the user, or null. */
    const why = (action: ActionName, user: User): string | null => {
      if (ranksAbove(user.role, me.user.role)) return t`This user has a higher role than you.`;
      return refusal(action, { owner: user.id, domain: user.domain.id });
    };
    return {
      why,
      whyNotDisable: (user: User) =>
        user.id === me.user.id ? t`You cannot deactivate yourself.` : why("user.update", user),
      whyNotPurge: (user: User) =>
        why("user.purge", user) ??
        (user.state === "inactive" ? null : t`Deactivate the user before you delete it permanently.`),
      disable: (users: User[]) =>
        openFormDialog({
          title: users.length === 1 ? t`Deactivate user` : t`Deactivate users`,
          form: (close) => <DisableDialog users={users} onDone={close} />,
        }),
      enable: async (users: User[]) => {
        for (const user of users) {
          try {
            await update({ id: user.id, state: "active" });
          } catch (thrown) {
            notifications.show({
              color: "red",
              title: t`Could not activate ${user.email}`,
              message: problemText(thrown).detail,
            });
          }
        }
      },
      edit: (users: User[], onDone: () => void) =>
        openFormDialog({
          title: t`Edit users`,
          form: (close) => (
            <BulkEditDialog
              users={users}
              onDone={() => {
                close();
                onDone();
              }}
            />
          ),
        }),
      purge: (users: User[]) =>
        openFormDialog({
          title: t`Delete permanently`,
          form: (close) => <PurgeDialog users={users} onDone={close} />,
        }),
      resetFactors: (user: User) =>
        askToConfirm({
          title: t`Reset two-factor authentication`,
          closeLabel: t`Close`,
          confirm: t`Reset`,
          onConfirm: () => reset(user.id),
          children: t`The authenticator app, passkeys and recovery codes of ${user.email} stop working, and the user is signed out of all browsers. Verify the identity of the user first.`,
        }),
    };
  }, [t, me, refusal, problemText, update, reset]);
}

export type UserActs = ReturnType<typeof useUserActs>;
