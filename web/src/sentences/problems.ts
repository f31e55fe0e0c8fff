import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { BUILD_PROBLEMS } from "./problems-builds";
import { FILE_PROBLEMS } from "./problems-files";
import { FOLDER_PROBLEMS } from "./problems-folders";
import { LIMIT_PROBLEMS } from "./problems-limits";
import { NETWORK_PROBLEMS } from "./problems-network";

interface Sentences {
  detail: MessageDescriptor;
  hint?: MessageDescriptor;
}

const AGAIN = msg`Try again in a moment.`;
const ASK = msg`Ask an administrator.`;

/**
 * Translated messages of the server's error codes.
 *
 * In English the server's own message is shown, which names the object.
 */
export const PROBLEMS: Record<string, Sentences> = {
  addresses_exhausted: {
    detail: msg`The engine has no free network address for another session.`,
    hint: ASK,
  },
  "app.bad_option": { detail: msg`An option has a value that the app does not accept.` },
  "app.is_port": { detail: msg`An opened port is no kind of app.` },
  "app.name_taken": {
    detail: msg`The session already has an app with this name.`,
    hint: msg`Choose another name.`,
  },
  "app.no_command": { detail: msg`This app is not started by Carrel.` },
  "app.no_port": {
    detail: msg`All ports for apps are in use.`,
    hint: msg`End a session whose apps you no longer need.`,
  },
  "app.not_found": { detail: msg`The session has no such app.` },
  "app.not_http": { detail: msg`This app cannot be opened in a browser: its protocol is TCP.` },
  "app.not_ready": { detail: msg`The app does not respond.` },
  "app.not_removable": { detail: msg`This app was not added to the session.`, hint: msg`Stop it instead.` },
  "app.not_stopped": {
    detail: msg`The app still responds: it was not started by Carrel.`,
    hint: msg`End it in a terminal of the session.`,
  },
  "app.port_taken": {
    detail: msg`The app always uses a port that another app of the session has.`,
    hint: msg`Stop and remove that one first.`,
  },
  "app.running": {
    detail: msg`The app already runs with other options.`,
    hint: msg`Stop it first, or start another one.`,
  },
  "app.too_many": {
    detail: msg`The session has too many started apps and opened ports.`,
    hint: msg`Remove one first.`,
  },
  "app.unknown_option": { detail: msg`The app has no such option.` },
  "app_template.ambiguous": { detail: msg`Several projects have an app template with this name.` },
  "app_template.bad_definition": { detail: msg`The changed app template is not valid.` },
  "app_template.built_in": {
    detail: msg`This app template is built in.`,
    hint: msg`Add an app template of the same name, which replaces or hides it.`,
  },
  "app_template.name_taken": {
    detail: msg`There is already an app template with this name.`,
    hint: msg`Choose another name, or change that one.`,
  },
  "app_template.not_found": { detail: msg`There is no such app template, or you may not see it.` },
  "app_template.too_many": {
    detail: msg`There are too many app templates.`,
    hint: msg`Remove one first.`,
  },
  "auth.bad_credentials": { detail: msg`The e-mail address or the password is wrong.` },
  "auth.bad_keypair": {
    detail: msg`The keypair or token is unknown, inactive or expired, or its secret is wrong.`,
  },
  "auth.csrf": { detail: msg`The page is out of date.`, hint: msg`Reload the page.` },
  "auth.locked": {
    detail: msg`Too many failed sign-in attempts.`,
    hint: msg`Wait a few minutes and try again.`,
  },
  "auth.origin": { detail: msg`The request comes from another site.` },
  "auth.required": { detail: msg`You are not signed in.`, hint: msg`Sign in again.` },
  "auth.bad_passkey": { detail: msg`This passkey cannot be used to sign in.` },
  "auth.confirm_needed": {
    detail: msg`This change requires recent authentication.`,
    hint: msg`Confirm with your password, a code or a passkey, and try again.`,
  },
  "auth.link_spent": {
    detail: msg`The link is invalid, expired or already used.`,
    hint: msg`Request a new one.`,
  },
  "auth.no_second_step": { detail: msg`This sign-in has no pending second step.`, hint: msg`Sign in again.` },
  "auth.refused": { detail: msg`This account cannot sign in.`, hint: ASK },
  "auth.sign_up_closed": { detail: msg`Sign-up is currently unavailable.`, hint: ASK },
  "auth.sign_up_email": { detail: msg`Sign-up is limited to certain e-mail domains.`, hint: ASK },
  "auth.sign_up_off": { detail: msg`Sign-up is disabled.`, hint: ASK },
  "auth.wrong_code": {
    detail: msg`The code is wrong or already used.`,
    hint: msg`Wait for the next one.`,
  },
  "auth.wrong_passkey": { detail: msg`The passkey could not be verified.` },
  "auth.wrong_password": { detail: msg`The password is wrong.` },
  command_unusable: { detail: msg`The image cannot run the command.` },
  commit_failed: { detail: msg`The engine could not make an image of the session.` },
  container_gone: { detail: msg`The session's container no longer exists.` },
  "container.not_found": { detail: msg`The session has no such container.` },
  "database.unavailable": { detail: msg`The database does not respond.`, hint: AGAIN },
  attachment_unsupported: {
    detail: msg`The container engine cannot attach the accelerators.`,
    hint: ASK,
  },
  share_not_enforced: {
    detail: msg`The share of an accelerator cannot be enforced on its machine.`,
    hint: ASK,
  },
  accelerator_missing: {
    detail: msg`An accelerator of the session is missing on its machine.`,
    hint: AGAIN,
  },
  image_in_use: { detail: msg`A container uses the image.` },
  limits_refused: { detail: msg`The limits of the container cannot be changed.` },
  engine_error: { detail: msg`The container engine refused the request.` },
  "plugin.kind_unknown": { detail: msg`No plug-in of this kind is installed.` },
  "engine.unavailable": { detail: msg`The container engine does not respond.`, hint: AGAIN },
  "factor.no_totp": {
    detail: msg`There is no authenticator app to confirm.`,
    hint: msg`Start the setup again.`,
  },
  "factor.none": { detail: msg`Two-factor authentication is not set up.` },
  "factor.totp_exists": { detail: msg`You already have an authenticator app.` },
  "factor.wrong_code": {
    detail: msg`The code is not valid now.`,
    hint: msg`Check the clock of the device, and try the next code.`,
  },
  "http.too_large": { detail: msg`The request is too large.` },
  "group.no_selector": {
    detail: msg`An elastic group needs a node selector, which says on which nodes of the cluster its sessions may run.`,
  },
  "group.elastic_topology": {
    detail: msg`An elastic group has no topology: its cluster chooses the nodes.`,
  },
  "group.not_elastic": {
    detail: msg`This engine cannot add machines: only a Kubernetes cluster has elastic groups.`,
  },
  "image.alias_taken": {
    detail: msg`The alias is the name or an alias of another image.`,
    hint: msg`Choose another alias, or remove it there.`,
  },
  "image.disabled": {
    detail: msg`The image is disabled.`,
    hint: msg`Choose another image, or ask an administrator to enable it.`,
  },
  "image.not_deprecated": { detail: msg`Only a deprecated image has a successor.` },
  "image.not_enabled": {
    detail: msg`Images of this registry can be used only after an administrator has enabled them.`,
    hint: msg`Choose another image, or ask an administrator to enable it.`,
  },
  "image.not_found": { detail: msg`There is no such image in the catalogue that you can use.` },
  "image.not_in_group": {
    detail: msg`The image may not be used in this resource group.`,
    hint: msg`Choose another resource group or image.`,
  },
  "image.not_permitted": {
    detail: msg`The image may not be used in this project.`,
    hint: msg`Choose another project or image.`,
  },
  "image.recommended_too_small": {
    detail: msg`The recommended amount is less than the minimum of the image.`,
  },
  "image.no_update": {
    detail: msg`No update of this image is available.`,
    hint: msg`Check for updates first.`,
  },
  "image.not_scanned": {
    detail: msg`This image is not from a registry that is scanned, so its tag cannot be watched.`,
    hint: msg`Add its registry and scan it.`,
  },
  "image.not_watched": { detail: msg`This image is not watched for updates.` },
  "image.update_changed": {
    detail: msg`The tag of this image has another digest by now.`,
    hint: msg`Look at the present one and decide again.`,
  },
  "image.successor_loop": { detail: msg`An image cannot succeed itself.` },
  "image.registry_not_allowed": {
    detail: msg`Your domain may not use images from this registry.`,
    hint: ASK,
  },
  "image.vulnerable": {
    detail: msg`The image has vulnerabilities that the rule of this installation does not permit.`,
    hint: msg`Choose another version of the image, or ask a superadmin to exempt it.`,
  },
  "image_scan.exempt_until": {
    detail: msg`An exemption ends in the future, and within a year.`,
    hint: msg`Choose another date; it can be renewed.`,
  },
  "image.local": {
    detail: msg`The image was built here; no registry has it.`,
    hint: msg`Write an image of a registry, such as python:3.12.`,
  },
  "accelerator_check.ended": { detail: msg`This check has ended.` },
  "accelerator_check.held": {
    detail: msg`Sessions hold the accelerators.`,
    hint: msg`Cordon the node, and check it when they have ended.`,
  },
  "accelerator_check.no_devices": {
    detail: msg`The node has no accelerator that can be checked.`,
    hint: msg`One with a problem is checked once that is solved.`,
  },
  "accelerator_check.not_found": { detail: msg`There is no such check.` },
  "accelerator_check.not_ready": {
    detail: msg`The node is not ready.`,
    hint: msg`Check its accelerators when its engine reports it again.`,
  },
  "accelerator_check.running": {
    detail: msg`The accelerators of this node are being checked.`,
    hint: msg`Wait for that check, or cancel it.`,
  },
  "device.not_found": { detail: msg`The node has no such accelerator.` },
  "device.unhealthy": {
    detail: msg`The accelerator still has a problem.`,
    hint: msg`Reset or replace it first; it can be put back once its node reports it without a problem.`,
  },
  "image_pull.ended": { detail: msg`This pull has ended.` },
  "image_pull.no_nodes": { detail: msg`The resource group has no nodes.` },
  "image_pull.not_found": { detail: msg`There is no such pull.` },
  "image_pull.where": { detail: msg`Choose nodes, or a resource group.` },
  "image_scan.no_report": { detail: msg`The image has not been scanned yet.` },
  "image_scan.not_found": { detail: msg`There is no such scan.` },
  "image_scan.not_open": { detail: msg`The image is not being scanned.` },
  "rescan.not_open": { detail: msg`Not everything is being scanned.` },
  image_unusable: {
    detail: msg`The image does not exist, may not be pulled, or cannot run here.`,
    hint: msg`Check its name and tag.`,
  },
  internal: {
    detail: msg`Internal server error.`,
    hint: msg`Give an administrator the request's id.`,
  },
  "import.bad_path": { detail: msg`This is no path within the source.` },
  "import.bad_ref": { detail: msg`This is no name of a branch, tag or commit.` },
  "import.bad_url": { detail: msg`This is no address of a notebook, repository or archive.` },
  "import.credentials_in_url": {
    detail: msg`The address contains a user name or password.`,
    hint: msg`Remove it from the address, and give a token for a private source.`,
  },
  "import.not_reachable": {
    detail: msg`A session cannot reach this address.`,
    hint: msg`Use an address that other machines reach.`,
  },
  "import.source_not_permitted": { detail: msg`Imports from this source are not permitted here.`, hint: ASK },
  "import.wrong_credentials": { detail: msg`This source is not opened by such credentials.` },
  "invalid.image": { detail: msg`This is neither an image in the catalogue nor an image reference.` },
  "invalid.project": { detail: msg`You are a member of several projects: choose one.` },
  "invalid.slots": { detail: msg`The image needs more resources.` },
  "invalid.text": { detail: msg`The text contains a NUL character.` },
  "keypair.not_found": { detail: msg`You have no such keypair.` },
  "keypair.too_many": {
    detail: msg`You have reached your limit of keypairs.`,
    hint: msg`Delete one that you no longer use.`,
  },
  "login.not_found": { detail: msg`This sign-in no longer exists.` },
  "passkey.bad": {
    detail: msg`The passkey could not be verified.`,
    hint: msg`Try again, or use another one.`,
  },
  "passkey.challenge": {
    detail: msg`The passkey request has expired or was already answered.`,
    hint: msg`Try again.`,
  },
  "passkey.exists": { detail: msg`This passkey is already registered.` },
  "passkey.impossible": { detail: msg`Passkeys need HTTPS and a host name.` },
  "passkey.not_found": { detail: msg`You have no such passkey.` },
  "passkey.too_many": {
    detail: msg`You have reached your limit of passkeys.`,
    hint: msg`Remove one that you no longer use.`,
  },
  "password.former": { detail: msg`You have used this password before.`, hint: msg`Choose another one.` },
  "password.too_common": { detail: msg`The password is easy to guess.`, hint: msg`Choose another one.` },
  "password.too_plain": { detail: msg`The password needs more kinds of characters.` },
  "password.too_short": { detail: msg`The password is too short.` },
  "password.wrong": { detail: msg`The current password is wrong.` },
  "policy.forbidden": { detail: msg`You may see this, but not perform this action.`, hint: ASK },
  "port.not_answering": { detail: msg`Nothing answers on that port of the session.` },
  "policy.scope": { detail: msg`This token does not allow this action.` },
  "project.none": {
    detail: msg`You are not a member of any project.`,
    hint: msg`Ask an administrator to add you to one.`,
  },
  "project.not_found": { detail: msg`Project not found.` },
  "provider.bad_answer": { detail: msg`The answer of the provider is invalid.`, hint: ASK },
  "provider.denied": { detail: msg`The provider denied the sign-in, or you cancelled it.` },
  "provider.email_taken": {
    detail: msg`Another account has this e-mail, and the provider may not link accounts by e-mail.`,
    hint: ASK,
  },
  "provider.email_unverified": {
    detail: msg`The provider has not verified your e-mail address.`,
    hint: msg`Verify it there, then sign in again.`,
  },
  "provider.expired": {
    detail: msg`This sign-in has expired or was already used.`,
    hint: msg`Sign in again.`,
  },
  "provider.misconfigured": { detail: msg`The provider is misconfigured.`, hint: ASK },
  "provider.no_email": { detail: msg`The provider does not provide your e-mail address.`, hint: ASK },
  "provider.not_found": { detail: msg`The provider does not exist or is inactive.` },
  "provider.not_invited": { detail: msg`You have no account here yet.`, hint: ASK },
  "provider.other_browser": {
    detail: msg`This sign-in started in another browser, or at another address of this page.`,
    hint: msg`Sign in again.`,
  },
  "provider.unreachable": {
    detail: msg`The provider does not respond.`,
    hint: msg`Try again in a moment; accounts with a local password can still sign in.`,
  },
  "rate.limited": { detail: msg`Too many requests.`, hint: msg`Wait a few minutes and try again.` },
  "server.disk_full": { detail: msg`The server's disk is full.`, hint: ASK },
  "session.ambiguous": { detail: msg`Several sessions match.`, hint: msg`Use more characters of the id.` },
  "session.bad_definition": {
    detail: msg`This is not a definition of a session.`,
    hint: msg`Write it as carrel session export does, such as image: starter.`,
  },
  "schedule.bad_cron": {
    detail: msg`This is not a cron expression with a time.`,
    hint: msg`Give minute, hour, day of month, month and day of week, such as 0 6 * * 1-5.`,
  },
  "schedule.bad_timezone": {
    detail: msg`This is not a time zone.`,
    hint: msg`Use a name such as Europe/Berlin, Asia/Seoul or UTC.`,
  },
  "schedule.name_taken": {
    detail: msg`You already have a schedule with that name.`,
    hint: msg`Choose another name.`,
  },
  "schedule.not_found": { detail: msg`Schedule not found.` },
  "schedule.too_many": {
    detail: msg`You have reached your limit of schedules.`,
    hint: msg`Delete one that you no longer use.`,
  },
  "environment.ambiguous": { detail: msg`Several environments have that name.` },
  "environment.engine_cannot": { detail: msg`The engine of the session cannot make images of sessions.` },
  "environment.in_use": {
    detail: msg`Live sessions use the environment.`,
    hint: msg`End them first, or wait until they have ended.`,
  },
  "environment.name_taken": {
    detail: msg`You, or the project, already have an environment with that name.`,
    hint: msg`Choose another name.`,
  },
  "environment.no_version": { detail: msg`The environment has no such version.` },
  "environment.not_found": { detail: msg`Environment not found.` },
  "environment.not_ready": { detail: msg`The version of the environment is not ready.` },
  "environment.version_taken": {
    detail: msg`The environment already has a version with that name.`,
    hint: msg`Choose another name, or leave it empty for the next number.`,
  },
  "template.ambiguous": { detail: msg`Several of your projects share a template with that name.` },
  "template.bad_definition": { detail: msg`The definition is not valid.` },
  "template.bad_parameter": { detail: msg`A parameter of the template is not valid.` },
  "template.changed": {
    detail: msg`The template has changed since you opened it.`,
    hint: msg`Load it again, then repeat your change.`,
  },
  "template.name_taken": {
    detail: msg`You, or the project, already have a template with that name.`,
    hint: msg`Choose another name.`,
  },
  "template.no_definition": { detail: msg`The template has no definition.` },
  "template.not_found": { detail: msg`Template not found.` },
  "template.parameter_invalid": { detail: msg`The value of a parameter is not valid.` },
  "template.parameter_missing": {
    detail: msg`The template needs values for all of its required parameters.`,
  },
  "template.unknown_parameter": { detail: msg`The template has no such parameter.` },
  "template.unknown_reference": {
    detail: msg`The definition refers to a parameter that the template does not have.`,
  },
  "session.ended": { detail: msg`The session has ended and cannot be changed.` },
  "session.dependency_cycle": {
    detail: msg`These sessions would wait for each other.`,
    hint: msg`Remove one of these dependencies.`,
  },
  "session.dependency_elsewhere": {
    detail: msg`The session belongs to another user and to another project.`,
    hint: msg`A session can start after your own sessions, and after those of its project.`,
  },
  "session.dependency_repeated": { detail: msg`A session is listed twice.` },
  "session.mixed_architectures": {
    detail: msg`The images of the containers are for different architectures.`,
    hint: msg`Choose images for the same architecture.`,
  },
  "session.array_range": {
    detail: msg`An array has 1 to 10,000 sessions, with at most 10,000 containers together.`,
  },
  "session.array_name": {
    detail: msg`With its index, the name of a session would have more than 64 characters.`,
    hint: msg`Choose a shorter name.`,
  },
  "session.no_array": { detail: msg`This session is not part of an array.` },
  "session.image_not_pinned": {
    detail: msg`The digest of an image that the session ran is not known.`,
    hint: msg`Start it again by the name of its image.`,
  },
  "session.no_command": {
    detail: msg`A batch session needs a command.`,
    hint: msg`Enter the command to run.`,
  },
  "session.node_of_one_group": {
    detail: msg`A session that requests a node accepts no other resource groups.`,
    hint: msg`Leave out the node, or the other groups.`,
  },
  "session.not_batch": { detail: msg`Only a batch session has a command, retries or an array.` },
  "session.name_taken": {
    detail: msg`You already have a session with that name.`,
    hint: msg`Choose another name.`,
  },
  "session.not_found": { detail: msg`Session not found.` },
  "session.not_running": { detail: msg`The session is not running.` },
  root_unsupported: {
    detail: msg`The engine of the node cannot give root in a session.`,
    hint: msg`Choose another resource group, or turn off root inside.`,
  },
  "session.root_forbidden": {
    detail: msg`A resource policy or the resource group does not allow root in a session.`,
    hint: msg`Ask an administrator to allow it, or turn off root inside.`,
  },
  "session.root_impossible": {
    detail: msg`The engine of no node of the resource group can give root in a session.`,
    hint: msg`Choose another resource group, or turn off root inside.`,
  },
  "session.too_large": {
    detail: msg`The nodes of the resource group are too small for this.`,
    hint: msg`Request less.`,
  },
  "session.unknown_topology": {
    detail: msg`The topology of the resource group does not have this level.`,
    hint: msg`Choose another one, or another resource group.`,
  },
  "session.wrong_architecture": {
    detail: msg`No node of this resource group has the architecture of the image.`,
    hint: msg`Choose another image, or another resource group.`,
  },
  "terminal.taken": { detail: msg`The terminal was opened elsewhere.` },
  "terminal.too_many": {
    detail: msg`The session has reached its limit of terminals.`,
    hint: msg`Close one that you no longer use.`,
  },
  "dotfile.nested": { detail: msg`Another dotfile has the path of a directory of this one, or the reverse.` },
  "dotfile.not_found": { detail: msg`You have no such dotfile.` },
  "dotfile.too_large": { detail: msg`A dotfile has at most 65,536 bytes.` },
  "dotfile.too_many": {
    detail: msg`You have as many dotfiles as a user can have.`,
    hint: msg`Remove one first.`,
  },
  "view.name_taken": {
    detail: msg`You have a saved view of this name already.`,
    hint: msg`Choose another name, or replace that view.`,
  },
  "view.not_found": { detail: msg`You have no such saved view.` },
  "view.too_many": {
    detail: msg`You have as many saved views as a user can have.`,
    hint: msg`Delete one first.`,
  },
  "session.no_time_limit": { detail: msg`The session has no time limit.` },
  "session.not_interactive": {
    detail: msg`The session is a batch session, whose command must not run twice.`,
    hint: msg`Start it again as another session.`,
  },
  "session.not_longer": {
    detail: msg`The time limit can only be extended.`,
    hint: msg`Give a longer one.`,
  },
  "session.cannot_resize": {
    detail: msg`The engine of its node cannot change the limits of running sessions.`,
    hint: msg`Start another session with more.`,
  },
  "session.memory_in_use": {
    detail: msg`The session uses more memory now than it would have.`,
    hint: msg`Free memory first, or request more.`,
  },
  "session.no_room_to_grow": {
    detail: msg`Your limits or the node of the session have no room for more.`,
    hint: msg`Request less, or try again later.`,
  },
  "session.too_much_disk": {
    detail: msg`Your resource policy does not allow so much disk.`,
    hint: msg`Request less disk, or write to folders.`,
  },
  "session.shm_too_large": {
    detail: msg`Shared memory is part of the session's memory and cannot exceed it.`,
    hint: msg`Request less shared memory, or more memory.`,
  },
  "session.workdir": { detail: msg`This is not a valid working directory.`, hint: msg`Do not use . or ..` },
  "ssh.ambiguous_key": {
    detail: msg`Several accounts have registered this key.`,
    hint: msg`Use the session's full id as the user name.`,
  },
  "ssh.not_permitted": { detail: msg`These credentials do not open the session any more.` },
  "ssh_key.invalid": { detail: msg`This is not a public SSH key.` },
  "ssh_key.known": { detail: msg`You already have this SSH key.` },
  "ssh_key.not_certifiable": {
    detail: msg`Keys of this type cannot be certified.`,
    hint: msg`Use an Ed25519, ECDSA or RSA key.`,
  },
  "ssh_key.not_found": { detail: msg`You have no such SSH key.` },
  "ssh_key.too_many": {
    detail: msg`You have reached your limit of SSH keys.`,
    hint: msg`Delete one that you no longer use.`,
  },
  "ssh_key.weak": { detail: msg`RSA keys need at least 2048 bits.` },
  "token.not_found": { detail: msg`You have no such token.` },
  "token.too_many": {
    detail: msg`You have reached your limit of tokens.`,
    hint: msg`Delete one that you no longer use.`,
  },
  "token.unknown_scope": { detail: msg`Unknown scope.` },
  "token.wider_scope": { detail: msg`A token cannot have more scopes than the credential that creates it.` },
  "webhook.inactive": { detail: msg`The webhook is switched off.` },
  "webhook.no_delivery": { detail: msg`Delivery not found. Deliveries are kept for 30 days.` },
  "webhook.not_found": { detail: msg`Webhook not found.` },
  "webhook.owner": { detail: msg`A webhook belongs to a project or to a domain, not to both.` },
  "webhook.too_many": {
    detail: msg`The limit of webhooks has been reached.`,
    hint: msg`Delete one that you no longer use.`,
  },
  "user.not_found": { detail: msg`User not found.` },
  "domain.holds_last_superadmin": {
    detail: msg`No superadmin would remain: all superadmins are in this domain.`,
  },
  "domain.name_taken": { detail: msg`A domain with that name already exists.` },
  "domain.not_empty": { detail: msg`The domain is not empty.` },
  "domain.not_found": { detail: msg`Domain not found.` },
  "member.not_found": { detail: msg`This user is not in the project.` },
  "project.ambiguous": { detail: msg`Several projects have that name.` },
  "project.archived": { detail: msg`The project is archived and takes no new sessions.` },
  "project.gone": { detail: msg`One of the projects has just been removed.` },
  "project.has_past": {
    detail: msg`The project has had sessions, whose records must stay: archive it instead.`,
  },
  "project.has_sessions": { detail: msg`The project has live sessions: choose whether to keep or end them.` },
  "project.name_taken": { detail: msg`The domain already has a project with that name.` },
  "provider.bad_ca": { detail: msg`These are not valid certificates.` },
  "provider.bad_filter": { detail: msg`This is not a valid LDAP filter.` },
  "provider.name_taken": { detail: msg`A provider with that name already exists.` },
  "provider.rule_empty": { detail: msg`A group rule grants nothing.` },
  "provider.rule_project": { detail: msg`The provider's domain has no such project.` },
  "provider.rule_superadmin": { detail: msg`The groups of this provider cannot grant the superadmin role.` },
  "provider.secret_again": { detail: msg`The secret belongs to the previous server: set it again.` },
  "registry.ambiguous": { detail: msg`Several registries have that name.` },
  "registry.ca_invalid": { detail: msg`These are not valid certificates.` },
  "registry.ecr_address": {
    detail: msg`This is not the address of an ECR registry.`,
    hint: msg`It is like https://123456789012.dkr.ecr.eu-central-1.amazonaws.com.`,
  },
  "registry.ecr_role": {
    detail: msg`Only registries of the installation use the role of its machine.`,
    hint: msg`Specify an access key as the user name, and its secret key.`,
  },
  "registry.name_taken": { detail: msg`A registry with that name already exists there.` },
  "registry.no_scan": { detail: msg`The registry is not being scanned.` },
  "registry.not_found": { detail: msg`There is no such registry.` },
  "registry.scope": { detail: msg`A registry is for a project or for a domain, not for both.` },
  "registry.scope_needed": { detail: msg`You administer several projects: choose one.` },
  "registry.secret_again": { detail: msg`The secret belongs to the previous address: set it again.` },
  "registry.push_repositories_needed": {
    detail: msg`Members could push to any repository, and replace the images of others.`,
    hint: msg`Enter the repositories to which they may push, such as team/*.`,
  },
  "registry.url_needed": { detail: msg`This kind of registry has no usual address: enter one.` },
  "registry.username_needed": { detail: msg`The secret needs a user name.` },
  "site.mail_sender": { detail: msg`Mail requires a sender address.` },
  "site.sign_up_mail": { detail: msg`E-mail verification requires a mail server.` },
  "site.sign_up_place": { detail: msg`Sign-up requires a domain and a project for new users.` },
  "user.email_taken": { detail: msg`A user with that e-mail already exists.` },
  "user.email_twice": { detail: msg`Another row has the same e-mail.` },
  "user.has_sessions": { detail: msg`The user has live sessions: choose whether to keep or end them.` },
  "user.last_superadmin": { detail: msg`This user is the last superadmin.` },
  "user.not_inactive": { detail: msg`Only inactive users can be permanently deleted.` },
  "user.purged": { detail: msg`This user was permanently deleted.` },
  "user.ranks_higher": { detail: msg`This user has a higher role than you.` },
  "user.self": { detail: msg`You cannot deactivate yourself.` },
  "user.too_many": { detail: msg`Too many users in one request.` },
  "user.unconfirmed": { detail: msg`The confirmation does not match the user's e-mail.` },
  ...LIMIT_PROBLEMS,
  ...FOLDER_PROBLEMS,
  ...BUILD_PROBLEMS,
  ...NETWORK_PROBLEMS,
  ...FILE_PROBLEMS,
};

/** Error codes that requests of this page do not cause; the server's message is shown. */
export const UNTRANSLATED: readonly (string | RegExp)[] = [
  // Operator commands, and errors of programs.
  /^(setup|starter|seal|backup)\./,
  /^plugin\.(?!kind_unknown$)/,
  "webdav.busy",
  // Between copies of the API.
  "terminal.gone",
  /^engine\.(denied|does_not_start|not_installed|refused)$/,
  /^http\.(bad_request|method_not_allowed|not_found|tls_needed|unsupported_media_type)$/,
  /^invalid\.(command|cursor|json|message|position|request|roles|sort|state)$/,
  "engine_unavailable",
  "build_failed",
  // Transient PostgreSQL errors, which the server retries itself.
  /^database\.(?!unavailable$)/,
  /^(trace|policy_file|backup)\./,
  // Only programs ask for tar files.
  "file.too_large_to_pack",
  // Errors of the HTTP server for requests that the page does not send.
  /^http\.(?!too_large$)/,
  // Errors that the page handles elsewhere.
  /^auth\.(no_login|pending_.*)$/,
  "invalid.password",
];
