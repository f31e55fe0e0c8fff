import type { UserCreate, UserUpdate } from "@/api/types";
import { shellQuote } from "@/launcher/command";

/** Words as one line of a POSIX shell. */
export const commandLine = (...words: string[]): string => words.map(shellQuote).join(" ");

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
