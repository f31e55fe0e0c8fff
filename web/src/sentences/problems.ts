import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";

interface Sentences {
  detail: MessageDescriptor;
  hint?: MessageDescriptor;
}

const AGAIN = msg`Try again in a moment.`;
const ASK = msg`Ask an administrator.`;

/**
 * What the server's codes mean, for the languages that the server does not speak.
 *
 * In English its own sentence stands, which names the thing at fault.
 */
export const PROBLEMS: Record<string, Sentences> = {
  addresses_exhausted: { detail: msg`The node has no network address left for another session.`, hint: ASK },
  "app.no_port": {
    detail: msg`All ports for apps are in use.`,
    hint: msg`End a session whose apps you no longer need.`,
  },
  "app.not_found": { detail: msg`The session has no such app.` },
  "app.not_ready": { detail: msg`The app was started and does not answer.` },
  "auth.bad_credentials": { detail: msg`The e-mail address or the password is wrong.` },
  "auth.bad_keypair": { detail: msg`The keypair is unknown, inactive, or its secret is wrong.` },
  "auth.csrf": { detail: msg`The page is too old to do this.`, hint: msg`Load the page again.` },
  "auth.locked": {
    detail: msg`There were too many failed attempts to sign in.`,
    hint: msg`Wait some minutes and try again.`,
  },
  "auth.origin": { detail: msg`The connection came from another site.` },
  "auth.required": { detail: msg`You are not signed in, or no longer.`, hint: msg`Sign in again.` },
  command_unusable: { detail: msg`The image cannot run the command.` },
  container_gone: { detail: msg`The session's container is gone.` },
  "database.unavailable": { detail: msg`The database does not answer.`, hint: AGAIN },
  engine_error: { detail: msg`The container engine refused.` },
  "engine.unavailable": { detail: msg`The container engine does not answer.`, hint: AGAIN },
  "http.too_large": { detail: msg`The request is too large.` },
  image_unusable: {
    detail: msg`The image does not exist, may not be pulled, or cannot run here.`,
    hint: msg`Check its name and tag.`,
  },
  internal: {
    detail: msg`Something is wrong on the server.`,
    hint: msg`Give an administrator the request's id.`,
  },
  "invalid.image": { detail: msg`This is neither an image of the catalogue nor an image reference.` },
  "invalid.project": { detail: msg`You are in several projects; choose one.` },
  "invalid.slots": { detail: msg`The image needs more than this.` },
  "invalid.text": { detail: msg`A text holds a character that cannot be kept.` },
  "keypair.not_found": { detail: msg`You have no such keypair.` },
  "keypair.too_many": {
    detail: msg`You have as many keypairs as you may.`,
    hint: msg`Delete one that you no longer use.`,
  },
  "policy.forbidden": { detail: msg`You may see it, and not do this to it.`, hint: ASK },
  "policy.scope": { detail: msg`This token may not do that.` },
  "project.none": { detail: msg`You are in no project.`, hint: msg`Ask an administrator to add you to one.` },
  "project.not_found": { detail: msg`You are in no such project.` },
  "server.disk_full": { detail: msg`The server's disk is full.`, hint: ASK },
  "session.ambiguous": { detail: msg`Several sessions begin like this.`, hint: msg`Type more of the id.` },
  "session.ended": { detail: msg`The session has ended and cannot be changed.` },
  "session.name_taken": {
    detail: msg`You have a live session of that name.`,
    hint: msg`Choose another name.`,
  },
  "session.not_found": { detail: msg`There is no such session.` },
  "session.not_running": { detail: msg`The session is not running.` },
  "session.too_large": { detail: msg`No node could ever hold this.`, hint: msg`Ask for less.` },
  "terminal.taken": { detail: msg`The terminal was opened in another place.` },
  "terminal.too_many": {
    detail: msg`The session has as many terminals as it may.`,
    hint: msg`Close one that you no longer use.`,
  },
  "ssh_key.invalid": { detail: msg`This is no public SSH key.` },
  "ssh_key.known": { detail: msg`This SSH key is known already.` },
  "ssh_key.not_found": { detail: msg`You have no such SSH key.` },
  "ssh_key.too_many": {
    detail: msg`You have as many SSH keys as you may.`,
    hint: msg`Delete one that you no longer use.`,
  },
  "ssh_key.weak": { detail: msg`This SSH key is too weak.` },
  "token.not_found": { detail: msg`You have no such token.` },
  "token.too_many": {
    detail: msg`You have as many tokens as you may.`,
    hint: msg`Delete one that you no longer use.`,
  },
  "token.unknown_scope": { detail: msg`There is no such scope.` },
  "token.wider_scope": { detail: msg`A token cannot do more than what made it.` },
  "user.not_found": { detail: msg`There is no such user.` },
};

/** What this page never asks in a way that is answered so; the server's own sentence is shown. */
export const UNTRANSLATED: readonly (string | RegExp)[] = [
  // The operator's commands, and faults of programs rather than of people.
  /^(setup|starter|seal)\./,
  /^engine\.(denied|does_not_start|not_installed|refused|unreachable)$/,
  /^http\.(bad_request|method_not_allowed|not_found|unsupported_media_type)$/,
  /^invalid\.(command|cursor|json|message|position|request|roles|sort|state)$/,
  "engine_unavailable",
  // No page asks these yet: they move up with the page that does.
  /^(domain|factor|login|member|passkey|password|provider|site)\./,
  /^user\.(?!not_found)/,
  /^project\.(?!none|not_found)/,
  /^auth\.(?!bad_credentials|bad_keypair|csrf|locked|origin|required)/,
  "invalid.password",
];
