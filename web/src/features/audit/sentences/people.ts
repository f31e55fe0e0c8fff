import { msg } from "@lingui/core/macro";
import type { AuditEntry } from "@/api/types";
import { valueText } from "./fields";
import { afterOf, beforeOf, isObject, nameOf, type Sentence, type Voice } from "./voice";

function userChanged(entry: AuditEntry, voice: Voice): string | null {
  const name = nameOf(entry);
  const [before, after] = [beforeOf(entry), afterOf(entry)];
  if (after.state === "active") return voice.say(msg`Activated ${name}`);
  if (after.state === "inactive") return voice.say(msg`Deactivated ${name}`);
  if (typeof after.provider === "string") {
    const { provider } = after;
    return voice.say(msg`Linked ${name} to the identity provider ${provider}`);
  }
  if (Object.keys(after).length !== 1 || !("role" in after)) return null;
  const [was, now] = [valueText(voice, "role", before.role), valueText(voice, "role", after.role)];
  return voice.say(msg`Changed the role of ${name} from ${was} to ${now}`);
}

function membersChanged(entry: AuditEntry, { say }: Voice): string | null {
  const name = nameOf(entry);
  const [before, after] = [beforeOf(entry), afterOf(entry)];
  const added = Object.keys(after).filter((one) => !(one in before));
  const removed = Object.keys(before).filter((one) => !(one in after));
  const [changed] = Object.keys(after).filter((one) => one in before);
  if (changed !== undefined) {
    return after[changed] === "administrator"
      ? say(msg`Made ${changed} an administrator of the project ${name}`)
      : say(msg`Made ${changed} a plain member of the project ${name}`);
  }
  const whom = (added.length > 0 ? added : removed).join(", ");
  if (added.length === 0) return whom ? say(msg`Removed ${whom} from the project ${name}`) : null;
  return Object.values(after).includes("administrator")
    ? say(msg`Added ${whom} to the project ${name} as administrator`)
    : say(msg`Added ${whom} to the project ${name}`);
}

function factorsChanged({ details }: AuditEntry, { say }: Voice): string | null {
  if (details.renewed !== undefined) return say(msg`Renewed the recovery codes`);
  if (details.added === "totp") return say(msg`Set up an authenticator app`);
  if (details.removed === "totp") return say(msg`Removed the authenticator app`);
  const name = String(details.passkey ?? "");
  if (details.added === "passkey") return say(msg`Added the passkey ${name}`);
  if (details.removed === "passkey") return say(msg`Removed the passkey ${name}`);
  if (details.renamed === "passkey") return say(msg`Renamed the passkey ${name}`);
  return null;
}

function policyAssigned(entry: AuditEntry, { say }: Voice): string {
  const name = nameOf(entry);
  const { keypair, user, sign_in: account, project } = entry.details;
  if (typeof project === "string")
    return say(msg`Assigned the resource policy ${name} to the project ${project}`);
  if (typeof keypair === "string" && typeof user === "string")
    return say(msg`Assigned the resource policy ${name} to a keypair of ${user}`);
  const whom = typeof account === "string" ? account : user;
  return typeof whom === "string"
    ? say(msg`Assigned the resource policy ${name} to ${whom}`)
    : say(msg`Assigned the resource policy ${name}`);
}

function signInsEnded(entry: AuditEntry, { say }: Voice): string {
  const name = nameOf(entry);
  return entry.details.ended === undefined
    ? say(msg`Ended a sign-in of ${name}`)
    : say(msg`Ended all sign-ins of ${name}`);
}

/** Either the changed name and description, or the preferences. */
function profileChanged(entry: AuditEntry, { say }: Voice): string | null {
  return isObject(afterOf(entry).preferences) ? say(msg`Changed the preferences`) : null;
}

function sshKeysChanged(entry: AuditEntry, { say }: Voice): string {
  const { name } = entry.object;
  if (isObject(entry.details.before)) return say(msg`Removed an SSH key`);
  return say(msg`Added the SSH key ${name}`);
}

/** Sentences about accounts, members and credentials. */
export const PEOPLE: Readonly<Record<string, Sentence>> = {
  "auth.confirm": (_, { say }) => say(msg`Re-authenticated`),
  "auth.login": (_, { say }) => say(msg({ context: "what happened", message: "Signed in" })),
  "auth.logout": (_, { say }) => say(msg`Signed out`),
  "auth.recover": (_, { say }) => say(msg`Reset the password by a link`),
  "auth.sign_up": (_, { say }) => say(msg`Signed up`),
  "factor.reset": (entry, { say }) => say(msg`Reset two-factor authentication of ${nameOf(entry)}`),
  "factor.update": factorsChanged,
  "keypair.rotate": (entry, { say }) => say(msg`Rotated the secret of the keypair ${nameOf(entry)}`),
  "login.remove": signInsEnded,
  "notification.update": (_, { say }) => say(msg`Changed the notifications`),
  "password.update": (_, { say }) => say(msg`Changed the password`),
  "policy.assign": policyAssigned,
  "profile.update": profileChanged,
  "project.enrol": membersChanged,
  "ssh_key.certify": (_, { say }) => say(msg`Obtained an SSH certificate`),
  "ssh_key.update": sshKeysChanged,
  "user.purge": (entry, { say }) => say(msg`Permanently deleted the user ${nameOf(entry)}`),
  "user.recover": (entry, { say }) => say(msg`Created a password reset link for ${nameOf(entry)}`),
  "user.update": userChanged,
};
