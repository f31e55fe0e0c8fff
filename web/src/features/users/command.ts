import type { User, UserCreate, UserUpdate } from "@/api/types";
import { commandLine } from "@/ui/command";

const option = (name: string, value: string | null | undefined): string[] => (value ? [name, value] : []);
const each = (name: string, values: readonly string[] | undefined): string[] =>
  (values ?? []).flatMap((value) => [name, value]);

/** The CLI command that creates the same user; a password is prompted for and never on the command line. */
export function createUserCommand(request: UserCreate): string {
  return commandLine(
    "carrel",
    "user",
    "create",
    request.email || "ada@example.org",
    request.name || "Ada Lovelace",
    ...option("--domain", request.domain),
    ...(request.role && request.role !== "user" ? ["--role", request.role] : []),
    ...(request.state && request.state !== "active" ? ["--state", request.state] : []),
    ...each("--project", request.projects),
    ...(request.generate_password ? ["--generate-password"] : []),
    ...(request.link ? ["--link"] : []),
    ...(request.password !== undefined ? ["--password-stdin"] : []),
    ...(request.must_change_password === false ? ["--keep-password"] : []),
    ...each("--address", request.addresses),
    ...option("--description", request.description),
  );
}

/** The CLI command for the same change. */
export function updateUserCommand(email: string, changes: UserUpdate): string {
  return commandLine(
    "carrel",
    "user",
    "update",
    email,
    ...option("--name", changes.name),
    ...option("--state", changes.state),
    ...option("--role", changes.role),
    ...option("--domain", changes.domain),
    ...each("--project", changes.projects),
    ...(changes.projects?.length === 0 ? ["--no-projects"] : []),
    ...each("--address", changes.addresses),
    ...(changes.addresses?.length === 0 ? ["--no-addresses"] : []),
    ...(changes.must_change_password === true ? ["--must-change-password"] : []),
    ...(changes.must_change_password === false ? ["--keep-password"] : []),
    ...(changes.description === undefined ? [] : ["--description", changes.description]),
    ...option("--sessions", changes.sessions),
  );
}

type Named = Pick<User, "email">[];
const emails = (users: Named): string[] => users.map(({ email }) => email);

/** The CLI command that deactivates these users. */
export const disableUsersCommand = (users: Named, sessions: "keep" | "end"): string =>
  commandLine("carrel", "user", "disable", ...emails(users), "--sessions", sessions);

/** The CLI command that deletes these users permanently. folders: null: users with folders stay. */
export const purgeUsersCommand = (
  users: Named,
  endSessions: boolean,
  folders: "delete" | { to: string } | null,
): string =>
  commandLine(
    "carrel",
    "user",
    "purge",
    ...emails(users),
    ...(endSessions ? ["--sessions", "end"] : []),
    ...(folders === "delete" ? ["--delete-folders"] : []),
    ...(folders && folders !== "delete" ? ["--folders-to", folders.to || "ada@example.org"] : []),
  );

interface Edits {
  state: "active" | "inactive" | null;
  /** What happens to the sessions of deactivated users. */
  sessions: "keep" | "end";
  role: NonNullable<UserUpdate["role"]> | null;
  /** Names of the projects to join and to leave. */
  added: readonly string[];
  taken: readonly string[];
}

/** The CLI commands for these changes; undefined without changes. */
export function editUsersCommand(users: Named, edits: Edits): string | undefined {
  const all = emails(users);
  const { role } = edits;
  const lines = [
    ...(edits.state === "inactive" ? [disableUsersCommand(users, edits.sessions)] : []),
    ...(edits.state === "active" ? [commandLine("carrel", "user", "activate", ...all)] : []),
    ...(role ? all.map((email) => updateUserCommand(email, { role })) : []),
    ...edits.added.map((project) => commandLine("carrel", "project", "enrol", project, ...all)),
    ...edits.taken.map((project) => commandLine("carrel", "project", "expel", project, ...all)),
  ];
  return lines.length > 0 ? lines.join("\n") : undefined;
}
