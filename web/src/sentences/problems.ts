import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { FILE_PROBLEMS } from "./problems-files";
import { FOLDER_PROBLEMS } from "./problems-folders";
import { LIMIT_PROBLEMS } from "./problems-limits";

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
    detail: msg`Too many failed sign-in attempts.`,
    hint: msg`Wait some minutes and try again.`,
  },
  "auth.origin": { detail: msg`The connection came from another site.` },
  "auth.required": { detail: msg`You are not signed in, or no longer.`, hint: msg`Sign in again.` },
  "auth.bad_passkey": { detail: msg`The passkey does not sign anybody in here.` },
  "auth.confirm_needed": {
    detail: msg`It was not confirmed that it is you.`,
    hint: msg`Try again, and confirm it with your password, a code or a passkey.`,
  },
  "auth.link_spent": {
    detail: msg`The link is invalid, expired, or already used.`,
    hint: msg`Ask for another.`,
  },
  "auth.no_second_step": { detail: msg`No second step is awaited any more.`, hint: msg`Sign in again.` },
  "auth.refused": { detail: msg`This account cannot sign in.`, hint: ASK },
  "auth.sign_up_closed": { detail: msg`New accounts have no place to go to at the moment.`, hint: ASK },
  "auth.sign_up_email": { detail: msg`Accounts are for other e-mail addresses.`, hint: ASK },
  "auth.sign_up_off": { detail: msg`People do not make accounts of their own here.`, hint: ASK },
  "auth.wrong_code": {
    detail: msg`The code is wrong or was already used.`,
    hint: msg`Wait for the next one.`,
  },
  "auth.wrong_passkey": { detail: msg`The passkey does not prove who you are.` },
  "auth.wrong_password": { detail: msg`The password is wrong.` },
  command_unusable: { detail: msg`The image cannot run the command.` },
  container_gone: { detail: msg`The session's container is gone.` },
  "container.not_found": { detail: msg`The session has no such container.` },
  "database.unavailable": { detail: msg`The database does not answer.`, hint: AGAIN },
  attachment_unsupported: {
    detail: msg`The container engine cannot give a container what its accelerators need.`,
    hint: ASK,
  },
  image_in_use: { detail: msg`A container needs the image.` },
  limits_refused: { detail: msg`The container engine does not change the limits of the container.` },
  engine_error: { detail: msg`The container engine refused.` },
  "plugin.kind_unknown": { detail: msg`This kind is not installed.` },
  "engine.unavailable": { detail: msg`The container engine does not answer.`, hint: AGAIN },
  "factor.no_totp": { detail: msg`No app is being set up.`, hint: msg`Begin again.` },
  "factor.none": { detail: msg`You have not set up a second factor.` },
  "factor.totp_exists": { detail: msg`You have an authenticator app already.` },
  "factor.wrong_code": {
    detail: msg`This is not the code of now.`,
    hint: msg`Check the clock of the device, and try the next code.`,
  },
  "http.too_large": { detail: msg`The request is too large.` },
  "image.registry_not_allowed": {
    detail: msg`Your domain may not use images from this registry.`,
    hint: ASK,
  },
  image_unusable: {
    detail: msg`The image does not exist, may not be pulled, or cannot run here.`,
    hint: msg`Check its name and tag.`,
  },
  internal: {
    detail: msg`Internal server error.`,
    hint: msg`Give an administrator the request's id.`,
  },
  "invalid.image": { detail: msg`This is neither an image of the catalogue nor an image reference.` },
  "invalid.project": { detail: msg`You are in several projects; choose one.` },
  "invalid.slots": { detail: msg`The image needs more than this.` },
  "invalid.text": { detail: msg`A text holds a character that cannot be kept.` },
  "keypair.not_found": { detail: msg`You have no such keypair.` },
  "keypair.too_many": {
    detail: msg`You have reached your limit of keypairs.`,
    hint: msg`Delete one that you no longer use.`,
  },
  "login.not_found": { detail: msg`There is no such sign-in any more.` },
  "passkey.bad": { detail: msg`The passkey cannot be used.`, hint: msg`Try again, or use another.` },
  "passkey.challenge": { detail: msg`The request timed out.`, hint: msg`Try again.` },
  "passkey.exists": { detail: msg`This passkey is registered already.` },
  "passkey.impossible": { detail: msg`Passkeys need HTTPS and a host name.` },
  "passkey.not_found": { detail: msg`You have no such passkey.` },
  "passkey.too_many": {
    detail: msg`You have reached your limit of passkeys.`,
    hint: msg`Remove one that you no longer use.`,
  },
  "password.former": { detail: msg`The password is one that you had before.`, hint: msg`Choose another.` },
  "password.too_common": { detail: msg`The password is easy to guess.`, hint: msg`Choose another.` },
  "password.too_plain": { detail: msg`The password needs more kinds of characters.` },
  "password.too_short": { detail: msg`The password is too short.` },
  "password.wrong": { detail: msg`The current password is wrong.` },
  "policy.forbidden": { detail: msg`You may see it, and not do this to it.`, hint: ASK },
  "policy.scope": { detail: msg`This token may not do that.` },
  "project.none": { detail: msg`You are in no project.`, hint: msg`Ask an administrator to add you to one.` },
  "project.not_found": { detail: msg`You are in no such project.` },
  "provider.bad_answer": { detail: msg`What the provider answered does not hold.`, hint: ASK },
  "provider.denied": { detail: msg`The provider did not let you in, or you turned back.` },
  "provider.email_taken": {
    detail: msg`Another account has this e-mail, and the provider may not decide whose it is.`,
    hint: ASK,
  },
  "provider.email_unverified": {
    detail: msg`The provider has not verified that the e-mail is yours.`,
    hint: msg`Verify it there, then sign in again.`,
  },
  "provider.expired": {
    detail: msg`Signing in took too long, or was used already.`,
    hint: msg`Sign in again.`,
  },
  "provider.misconfigured": { detail: msg`The provider is not set up here as it should be.`, hint: ASK },
  "provider.no_email": { detail: msg`The provider does not say what your e-mail is.`, hint: ASK },
  "provider.not_found": { detail: msg`There is no such provider, or it is not in use.` },
  "provider.not_invited": { detail: msg`The provider knows you, and you have no account here.`, hint: ASK },
  "provider.other_browser": {
    detail: msg`Signing in began in another browser, or at another address of the page.`,
    hint: msg`Sign in again.`,
  },
  "provider.unreachable": {
    detail: msg`The provider does not answer.`,
    hint: msg`Try again in a moment; accounts of this site can sign in without it.`,
  },
  "rate.limited": { detail: msg`Too many requests.`, hint: msg`Wait some minutes and try again.` },
  "server.disk_full": { detail: msg`The server's disk is full.`, hint: ASK },
  "session.ambiguous": { detail: msg`Several sessions begin like this.`, hint: msg`Type more of the id.` },
  "session.ended": { detail: msg`The session has ended and cannot be changed.` },
  "session.name_taken": {
    detail: msg`You already have a live session with that name.`,
    hint: msg`Choose another name.`,
  },
  "session.not_found": { detail: msg`Session not found.` },
  "session.not_running": { detail: msg`The session is not running.` },
  "session.too_large": { detail: msg`No node could ever hold this.`, hint: msg`Ask for less.` },
  "session.wrong_architecture": {
    detail: msg`No node of this resource group runs what the image is made for.`,
    hint: msg`Choose another image, or another resource group.`,
  },
  "terminal.taken": { detail: msg`The terminal was opened in another place.` },
  "terminal.too_many": {
    detail: msg`The session has reached its limit of terminals.`,
    hint: msg`Close one that you no longer use.`,
  },
  "ssh_key.invalid": { detail: msg`This is no public SSH key.` },
  "ssh_key.known": { detail: msg`This SSH key is known already.` },
  "ssh_key.not_found": { detail: msg`You have no such SSH key.` },
  "ssh_key.too_many": {
    detail: msg`You have reached your limit of SSH keys.`,
    hint: msg`Delete one that you no longer use.`,
  },
  "ssh_key.weak": { detail: msg`This SSH key is too weak.` },
  "token.not_found": { detail: msg`You have no such token.` },
  "token.too_many": {
    detail: msg`You have reached your limit of tokens.`,
    hint: msg`Delete one that you no longer use.`,
  },
  "token.unknown_scope": { detail: msg`Scope not found.` },
  "token.wider_scope": { detail: msg`A token cannot do more than what made it.` },
  "user.not_found": { detail: msg`User not found.` },
  "domain.holds_last_superadmin": {
    detail: msg`All superadmins are in this domain: nobody would be left to administer everything.`,
  },
  "domain.name_taken": { detail: msg`A domain with that name already exists.` },
  "domain.not_empty": { detail: msg`The domain still holds something.` },
  "domain.not_found": { detail: msg`There is no such domain.` },
  "member.not_found": { detail: msg`This user is not in the project.` },
  "project.ambiguous": { detail: msg`Several projects have that name.` },
  "project.archived": { detail: msg`The project is archived and takes no new sessions.` },
  "project.gone": { detail: msg`One of the projects was just removed.` },
  "project.has_past": { detail: msg`The project has held sessions, whose record stays: archive it instead.` },
  "project.has_sessions": { detail: msg`Sessions in it are live: say what becomes of them.` },
  "project.name_taken": { detail: msg`The domain already has a project with that name.` },
  "provider.bad_ca": { detail: msg`The certificates to trust are none.` },
  "provider.bad_filter": { detail: msg`A directory does not understand this filter.` },
  "provider.name_taken": { detail: msg`A provider with that name already exists.` },
  "provider.rule_empty": { detail: msg`A rule for a group gives nothing.` },
  "provider.rule_project": { detail: msg`The provider's domain has no such project.` },
  "provider.rule_superadmin": { detail: msg`The groups of this provider may not make superadmins.` },
  "provider.secret_again": { detail: msg`The provider moves to another server: give the secret again.` },
  "site.mail_sender": { detail: msg`Mail needs an address to come from.` },
  "site.sign_up_mail": { detail: msg`Proving an e-mail needs a mail server.` },
  "site.sign_up_place": { detail: msg`Whoever signs up needs a domain and a project to come into.` },
  "user.email_taken": { detail: msg`A user with that e-mail already exists.` },
  "user.email_twice": { detail: msg`Another row has the same e-mail.` },
  "user.has_sessions": { detail: msg`Sessions of theirs are live: say what becomes of them.` },
  "user.last_superadmin": { detail: msg`Nobody would be left to administer everything.` },
  "user.not_inactive": { detail: msg`Only inactive users can be deleted for good.` },
  "user.purged": { detail: msg`This user was deleted for good.` },
  "user.ranks_higher": { detail: msg`This user has a higher role than you.` },
  "user.self": { detail: msg`You cannot deactivate yourself.` },
  "user.too_many": { detail: msg`Too many users in one request.` },
  "user.unconfirmed": { detail: msg`What was typed is not the user's e-mail.` },
  ...LIMIT_PROBLEMS,
  ...FOLDER_PROBLEMS,
  ...FILE_PROBLEMS,
};

/** What this page never asks in a way that is answered so; the server's own sentence is shown. */
export const UNTRANSLATED: readonly (string | RegExp)[] = [
  // The operator's commands, and faults of programs rather than of people.
  /^(setup|starter|seal|backup)\./,
  /^plugin\.(?!kind_unknown$)/,
  "webdav.busy",
  /^engine\.(denied|does_not_start|not_installed|refused)$/,
  /^http\.(bad_request|method_not_allowed|not_found|tls_needed|unsupported_media_type)$/,
  /^invalid\.(command|cursor|json|message|position|request|roles|sort|state)$/,
  "engine_unavailable",
  "build_failed",
  // Passing refusals of PostgreSQL, which the server repeats by itself first.
  /^database\.(?!unavailable$)/,
  /^(trace|policy_file|backup)\./,
  // Only programs ask for tar files.
  "file.too_large_to_pack",
  // Refusals of the HTTP server itself, of requests that the page does not make.
  /^http\.(?!too_large$)/,
  // The page has a place of its own for these.
  /^auth\.(no_login|pending_.*)$/,
  "invalid.password",
];
