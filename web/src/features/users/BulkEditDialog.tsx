import { Plural, useLingui } from "@lingui/react/macro";
import { MultiSelect, Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { User, UserUpdate } from "@/api/types";
import { useRefusal } from "@/me/may";
import { projectsChoiceQuery } from "@/queries/projects";
import { useUpdateUser } from "@/queries/users";
import { ManyDialog } from "@/ui/form/ManyDialog";
import { useUnsavedInput } from "@/ui/form/unsaved-input";
import { editUsersCommand } from "./command";
import { LiveSessionsInput } from "./LiveSessionsInput";
import { ROLES, USER_STATE_NAMES } from "./words";

type Role = "user" | "domain_admin" | "superadmin";
type State = "active" | "inactive";

/** Applies the same changes to several users; unset fields stay. */
export function BulkEditDialog({ users, onDone }: { users: User[]; onDone: () => void }) {
  const { t, i18n } = useLingui();
  const update = useUpdateUser();
  const appoint = useRefusal()("user.appoint");
  const [state, setState] = useState<State | null>(null);
  const [role, setRole] = useState<Role | null>(null);
  const [sessions, setSessions] = useState<"keep" | "end">("keep");
  const [added, setAdded] = useState<string[]>([]);
  const [taken, setTaken] = useState<string[]>([]);
  const domain = users[0]?.domain.id;
  const oneDomain = users.every((user) => user.domain.id === domain);
  const projects = useQuery({ ...projectsChoiceQuery(domain), enabled: oneDomain }).data ?? [];
  const choices = projects.map(({ id, name }) => ({ value: id, label: name }));

  const changed = state !== null || role !== null || added.length + taken.length > 0;
  useUnsavedInput(() => changed);

  const changeOf = (user: User): UserUpdate => ({
    ...(state ? { state } : {}),
    ...(state === "inactive" ? { sessions } : {}),
    ...(role ? { role } : {}),
    ...(added.length + taken.length > 0
      ? {
          projects: [...new Set([...user.projects.map(({ id }) => id), ...added])].filter(
            (id) => !taken.includes(id),
          ),
        }
      : {}),
  });
  const nameOf = (id: string) => projects.find((project) => project.id === id)?.name ?? id;
  const command = editUsersCommand(users, {
    state,
    sessions,
    role,
    added: added.map(nameOf),
    taken: taken.map(nameOf),
  });
  const byId = new Map(users.map((user) => [user.id, user]));
  return (
    <ManyDialog
      items={users.map(({ id, email }) => ({ id, name: email }))}
      confirm={t`Save`}
      command={command}
      ready={changed}
      act={({ id }) => {
        const user = byId.get(id);
        return user ? update.mutateAsync({ id, ...changeOf(user) }) : Promise.resolve();
      }}
      onDone={onDone}
    >
      <Text size="sm">
        <Plural
          value={users.length}
          one="# user selected. Empty fields are not changed."
          other="# users selected. Empty fields are not changed."
        />
      </Text>
      <Select
        label={t`State`}
        placeholder={t`Keep current`}
        clearable
        clearButtonProps={{ "aria-label": t`Keep current` }}
        data={(["active", "inactive"] as const).map((value) => ({
          value,
          label: i18n._(USER_STATE_NAMES[value]),
        }))}
        value={state}
        onChange={(next) => setState(next as State | null)}
      />
      {state === "inactive" && (
        <LiveSessionsInput label={t`Live sessions`} value={sessions} onChange={setSessions} />
      )}
      <Select
        label={t`Role`}
        placeholder={t`Keep current`}
        description={appoint}
        disabled={appoint !== null}
        clearable
        clearButtonProps={{ "aria-label": t`Keep current` }}
        data={(["user", "domain_admin", "superadmin"] as const).map((value) => ({
          value,
          label: i18n._(ROLES[value]),
        }))}
        value={role}
        onChange={(next) => setRole(next as Role | null)}
      />
      <MultiSelect
        label={t`Add to projects`}
        description={
          oneDomain ? undefined : t`The selected users are in several domains. Select users of one domain.`
        }
        disabled={!oneDomain}
        searchable
        data={choices}
        value={added}
        onChange={setAdded}
      />
      <MultiSelect
        label={t`Remove from projects`}
        disabled={!oneDomain}
        searchable
        data={choices}
        value={taken}
        onChange={setTaken}
      />
    </ManyDialog>
  );
}
