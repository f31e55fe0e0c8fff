import type { User, UserCreate, UserUpdate } from "@/api/types";
import { commandLine } from "@/ui/command";

const option = (name: string, value: string | null | undefined): string[] => (value ? [name, value] : []);
const each = (name: string, values: readonly string[] | undefined): string[] =>
  (values ?? []).flatMap((value) => [name, value]);

/** The line that makes the same user; a password is asked for and never on the line. */
export function createUserCommand(wanted: UserCreate): string {
  return commandLine(
    "carrel",
    "user",
    "create",
    wanted.email || "ada@example.org",
    wanted.name || "Ada Lovelace",
    ...option("--domain", wanted.domain),
    ...(wanted.role && wanted.role !== "user" ? ["--role", wanted.role] : []),
    ...(wanted.state && wanted.state !== "active" ? ["--state", wanted.state] : []),
    ...each("--project", wanted.projects),
    ...(wanted.generate_password ? ["--generate-password"] : []),
    ...(wanted.link ? ["--link"] : []),
    ...(wanted.password !== undefined ? ["--password-stdin"] : []),
    ...(wanted.must_change_password === false ? ["--keep-password"] : []),
    ...each("--address", wanted.addresses),
    ...option("--description", wanted.description),
  );
}

/** The line that makes the same change. */
export function updateUserCommand(email: string, wanted: UserUpdate): string {
  return commandLine(
    "carrel",
    "user",
    "update",
    email,
    ...option("--name", wanted.name),
    ...option("--state", wanted.state),
    ...option("--role", wanted.role),
    ...option("--domain", wanted.domain),
    ...each("--project", wanted.projects),
    ...(wanted.projects?.length === 0 ? ["--no-projects"] : []),
    ...each("--address", wanted.addresses),
    ...(wanted.addresses?.length === 0 ? ["--no-addresses"] : []),
    ...(wanted.must_change_password === true ? ["--must-change-password"] : []),
    ...(wanted.must_change_password === false ? ["--keep-password"] : []),
    ...(wanted.description === undefined ? [] : ["--description", wanted.description]),
    ...option("--sessions", wanted.sessions),
  );
}

type Named = Pick<User, "email">[];
const emails = (users: Named): string[] => users.map(({ email }) => email);

/** The line that deactivates them. */
export const disableUsersCommand = (users: Named, sessions: "keep" | "end"): string =>
  commandLine("carrel", "user", "disable", ...emails(users), "--sessions", sessions);

/** The line that deletes them for good. folders: null: whoever has folders stays. */
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
  /** What becomes of the sessions of those who become inactive. */
  sessions: "keep" | "end";
  role: NonNullable<UserUpdate["role"]> | null;
  /** Names of the projects that they come into, that they leave. */
  added: readonly string[];
  taken: readonly string[];
}

/** The lines that make the same changes to all of them; undefined while there are none. */
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
