import { msg } from "@lingui/core/macro";
import type { AuditEntry } from "@/api/types";
import { slotsWords } from "@/ui/slots";
import { valueText } from "./fields";
import { afterOf, beforeOf, isObject, nameOf, type Sentence, type Voice } from "./voice";

function created(entry: AuditEntry, { say }: Voice): string {
  const name = nameOf(entry);
  const { slots } = afterOf(entry);
  if (!isObject(slots)) return say(msg`Created the session ${name}`);
  const amounts = slotsWords(slots as Record<string, number>).join(", ");
  return say(msg`Created the session ${name} with ${amounts}`);
}

function sessionChanged(entry: AuditEntry, voice: Voice): string | null {
  const [before, after] = [beforeOf(entry).priority, afterOf(entry).priority];
  if (after === undefined) return null;
  const [was, now, name] = [String(before), String(after), nameOf(entry)];
  return voice.say(msg`Changed the priority of the session ${name} from ${was} to ${now}`);
}

function commandRun(entry: AuditEntry, { say }: Voice): string {
  const name = nameOf(entry);
  const { command, network } = entry.details;
  if (network) return say(msg`Measured the network of the session ${name}`);
  return typeof command === "string"
    ? say(msg`Ran ${command} in the session ${name}`)
    : say(msg`Opened a terminal in the session ${name}`);
}

function sessionShared(entry: AuditEntry, { say }: Voice): string | null {
  const [name, whom, before, after] = [nameOf(entry), entry.details.with, beforeOf(entry), afterOf(entry)];
  if (typeof whom !== "string") return null;
  if (whom === "link")
    return after.level
      ? say(msg`Created a link to the session ${name}`)
      : say(msg`Revoked a link to the session ${name}`);
  if (!after.level) return say(msg`Stopped sharing the session ${name} with ${whom}`);
  if (before.level) return say(msg`Changed what ${whom} may do with the session ${name}`);
  return after.level === "use"
    ? say(msg`Shared the session ${name} with ${whom}, to use`)
    : say(msg`Shared the session ${name} with ${whom}, to look at`);
}

function nodeChanged(entry: AuditEntry, voice: Voice): string | null {
  const { say } = voice;
  const name = nameOf(entry);
  const [before, after] = [beforeOf(entry), afterOf(entry)];
  if (after.forgotten === true) return say(msg`Removed the node ${name}`);
  if (typeof after.draining === "string") return say(msg`Drained ${name}`);
  if (after.cordoned === true) return say(msg`Cordoned ${name}`);
  if (after.cordoned === false && before.draining)
    return say(msg`Uncordoned ${name}, which stopped its draining`);
  if (after.cordoned === false) return say(msg`Uncordoned ${name}`);
  if ("group_id" in after) return nodeMoved(entry, voice);
  return null;
}

function nodeMoved(entry: AuditEntry, { say }: Voice): string {
  const [name, group] = [nameOf(entry), entry.details.to];
  return typeof group === "string"
    ? say(msg`Moved the node ${name} to the resource group ${group}`)
    : say(msg`Moved the node ${name} to another resource group`);
}

function folderMoved(entry: AuditEntry, { say }: Voice): string {
  const [name, host] = [nameOf(entry), entry.details.to];
  return typeof host === "string"
    ? say(msg`Moved the folder ${name} to the storage host ${host}`)
    : say(msg`Moved the folder ${name} to another storage host`);
}

function folderChanged(entry: AuditEntry, voice: Voice): string | null {
  const { say } = voice;
  const name = nameOf(entry);
  const [before, after] = [beforeOf(entry), afterOf(entry)];
  if (after.state === "TRASHED") return say(msg`Moved the folder ${name} to the trash`);
  if (before.state === "TRASHED" && after.state === "READY")
    return say(msg`Restored the folder ${name} from the trash`);
  return "host" in after ? folderMoved(entry, voice) : null;
}

function folderRemoved(entry: AuditEntry, { say }: Voice): string {
  const name = nameOf(entry);
  if (entry.details.outcome === "gone") return say(msg`Finished deleting the folder ${name}`);
  return say(msg`Permanently deleted the folder ${name}`);
}

function shared(entry: AuditEntry, voice: Voice): string | null {
  const [name, whom] = [nameOf(entry), entry.details.with];
  if (typeof whom !== "string") return null;
  const permission = (part: Readonly<Record<string, unknown>>) =>
    valueText(voice, "permission", part.permission);
  const [was, now] = [permission(beforeOf(entry)), permission(afterOf(entry))];
  const { before, after } = entry.details;
  if (!before) return voice.say(msg`Shared the folder ${name} with ${whom} (${now})`);
  if (!after) return voice.say(msg`Stopped sharing the folder ${name} with ${whom}`);
  return voice.say(msg`Changed the permission of ${whom} on the folder ${name} from ${was} to ${now}`);
}

function joined(entry: AuditEntry, { say }: Voice): string | null {
  const name = nameOf(entry);
  switch (entry.details.share) {
    case "accepted":
      return say(msg`Accepted the invitation to the folder ${name}`);
    case "declined":
      return say(msg`Declined the invitation to the folder ${name}`);
    case "left":
      return say(msg`Left the shared folder ${name}`);
    default:
      return null;
  }
}

function ownershipTransferred(entry: AuditEntry, { say }: Voice): string {
  const [name, whom] = [nameOf(entry), entry.details.to];
  return typeof whom === "string"
    ? say(msg`Transferred ownership of the folder ${name} to ${whom}`)
    : say(msg`Transferred ownership of the folder ${name}`);
}

function files(entry: AuditEntry, { say }: Voice): string | null {
  const [name, { paths, count }] = [nameOf(entry), entry.details];
  const first: unknown = Array.isArray(paths) ? paths[0] : undefined;
  if (typeof first !== "string") return null;
  const more = typeof count === "number" ? count - 1 : 0;
  const what = more > 0 ? say(msg`${first} and ${more} more`) : first;
  switch (entry.action) {
    case "file.upload":
      return say(msg`Uploaded ${what} to the folder ${name}`);
    case "file.download":
      return say(msg`Downloaded ${what} from the folder ${name}`);
    case "file.make_directory":
      return say(msg`Created the directory ${what} in the folder ${name}`);
    case "file.write":
      return say(msg`Edited ${what} in the folder ${name}`);
    case "file.move":
      return say(msg`Moved ${what} in the folder ${name}`);
    case "file.copy":
      return say(msg`Copied ${what} of the folder ${name}`);
    default:
      return say(msg`Deleted ${what} from the folder ${name}`);
  }
}

function appOpened(entry: AuditEntry, { say }: Voice): string | null {
  const [name, { app }] = [nameOf(entry), entry.details];
  return typeof app === "string" ? say(msg`Opened ${app} in the session ${name}`) : null;
}

/** Sentences about sessions, nodes, folders and files. */
export const WORK: Readonly<Record<string, Sentence>> = {
  "app.open": appOpened,
  "audit.export": (_, { say }) => say(msg`Exported the audit trail`),
  "audit.prune": (_, { say }) => say(msg`Removed entries older than the retention period`),
  "maintenance.bundle": (_, { say }) => say(msg`Downloaded a support bundle`),
  "file.copy": files,
  "file.download": files,
  "file.make_directory": files,
  "file.move": files,
  "file.remove": files,
  "file.upload": files,
  "file.write": files,
  "node.update": nodeChanged,
  "session.create": created,
  "session.update": sessionChanged,
  "session.exec": commandRun,
  "session.keep": (entry, { say }) => say(msg`Kept the session ${nameOf(entry)} running`),
  "session.exempt": (entry, { say }) =>
    afterOf(entry).exempt === true
      ? say(msg`Exempted the session ${nameOf(entry)} from idle checks`)
      : say(msg`Ended the exemption of the session ${nameOf(entry)} from idle checks`),
  "session.read": (entry, { say }) =>
    entry.details.download === true
      ? say(msg`Downloaded the log of the session ${nameOf(entry)}`)
      : say(msg`Read the log of the session ${nameOf(entry)}`),
  "session.remove": (entry, { say }) =>
    entry.details.force === true
      ? say(msg`Force-terminated the session ${nameOf(entry)}`)
      : say(msg`Terminated the session ${nameOf(entry)}`),
  "session.share": sessionShared,
  "session.join": (entry, { say }) => say(msg`Opened a link to the session ${nameOf(entry)}`),
  "session.leave": (entry, { say }) => say(msg`Left the shared session ${nameOf(entry)}`),
  "session.restart": (entry, { say }) => say(msg`Restarted the session ${nameOf(entry)}`),
  "vfolder.hand_over": ownershipTransferred,
  "vfolder.join": joined,
  "vfolder.remove": folderRemoved,
  "vfolder.share": shared,
  "vfolder.update": folderChanged,
  "scheduler.export": (_, { say }) => say(msg`Exported a scheduler trace`),
};
