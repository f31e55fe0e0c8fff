import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Checkbox, List, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { User } from "@/api/types";
import { usePurgeUser } from "@/queries/users";
import { ManyDialog } from "@/ui/form/ManyDialog";
import { useUnsavedInput } from "@/ui/form/unsaved-input";
import { purgeUsersCommand } from "./command";
import { FoldersChoice, type FoldersFate } from "./FoldersChoice";

/** Deletes inactive users permanently, after a typed confirmation. */
export function PurgeDialog({ users, onDone }: { users: User[]; onDone: () => void }) {
  const { t } = useLingui();
  const purge = usePurgeUser();
  const [typed, setTyped] = useState("");
  const [endSessions, setEnd] = useState(false);
  const [folders, setFolders] = useState<FoldersFate>("keep");
  const [recipient, setRecipient] = useState("");
  useUnsavedInput(() => recipient !== "" && !purge.isPending);
  const fate = folders === "delete" ? "delete" : folders === "give" ? { to: recipient.trim() } : null;
  const emails = new Map(users.map(({ id, email }) => [id, email]));
  const phrase = users.length === 1 ? (users[0]?.email ?? "") : `purge ${users.length}`;
  return (
    <ManyDialog
      items={users.map(({ id, email }) => ({ id, name: email }))}
      confirm={t`Delete permanently`}
      command={purgeUsersCommand(users, endSessions, fate)}
      dangerous
      ready={typed === phrase && (folders !== "give" || recipient.includes("@"))}
      act={({ id }) => purge.mutateAsync({ id, confirm: emails.get(id) ?? "", endSessions, folders: fate })}
      onDone={onDone}
    >
      <Text size="sm">
        <Plural
          value={users.length}
          one="This user is deleted permanently. This cannot be undone. It deletes:"
          other="These # users are deleted permanently. This cannot be undone. It deletes:"
        />
      </Text>
      <List size="sm">
        <List.Item>
          <Trans>name, e-mail, password, two-factor authentication and passkeys</Trans>
        </List.Item>
        <List.Item>
          <Trans>keypairs, tokens and SSH keys: scripts that use them stop working</Trans>
        </List.Item>
        <List.Item>
          <Trans>project memberships</Trans>
        </List.Item>
      </List>
      <Text size="sm" c="dimmed">
        <Trans>Past sessions and the audit trail are kept. The e-mail address can be used again.</Trans>
      </Text>
      <Checkbox
        label={t`End live sessions`}
        description={t`If off, users with live sessions are skipped.`}
        checked={endSessions}
        onChange={(event) => setEnd(event.currentTarget.checked)}
      />
      <FoldersChoice value={folders} recipient={recipient} onChange={setFolders} onRecipient={setRecipient} />
      <TextInput
        label={t`Type ${phrase} to confirm`}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
      />
    </ManyDialog>
  );
}
