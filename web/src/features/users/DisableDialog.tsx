import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { useState } from "react";
import type { User } from "@/api/types";
import { useUpdateUser } from "@/queries/users";
import { ManyDialog } from "@/ui/form/ManyDialog";
import { useUnsavedInput } from "@/ui/form/unsaved-input";
import { disableUsersCommand } from "./command";
import { LiveSessionsInput } from "./LiveSessionsInput";

/** Asks what happens to the live sessions of deactivated users. */
export function DisableDialog({ users, onDone }: { users: User[]; onDone: () => void }) {
  const { t } = useLingui();
  const update = useUpdateUser();
  const [sessions, setSessions] = useState<"keep" | "end">("keep");
  useUnsavedInput(() => sessions !== "keep" && !update.isPending);
  return (
    <ManyDialog
      items={users.map(({ id, email }) => ({ id, name: email }))}
      confirm={t`Deactivate`}
      command={disableUsersCommand(users, sessions)}
      dangerous
      act={({ id }) => update.mutateAsync({ id, state: "inactive", sessions })}
      onDone={onDone}
    >
      <Text size="sm">
        {users.length === 1 ? (
          <Trans>
            <b>{users[0]?.email}</b> is signed out of all browsers, and their keypairs stop working. You can
            activate the user again.
          </Trans>
        ) : (
          <Plural
            value={users.length}
            one="# user is signed out of all browsers, and their keypairs stop working. You can activate the user again."
            other="# users are signed out of all browsers, and their keypairs stop working. You can activate the users again."
          />
        )}
      </Text>
      <LiveSessionsInput label={t`Live sessions`} value={sessions} onChange={setSessions} />
    </ManyDialog>
  );
}
