import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { ACTIONS } from "@/api/actions";

/** What an object is called within a sentence. */
export const NOUNS: Readonly<Record<string, MessageDescriptor>> = {
  app: msg`session`,
  app_template: msg`app template`,
  domain: msg`domain`,
  engine: msg`engine`,
  environment: msg`environment`,
  file: msg`folder`,
  group: msg`resource group`,
  image: msg`image`,
  keypair: msg`keypair`,
  node: msg`node`,
  policy: msg`resource policy`,
  preset: msg`preset`,
  profile: msg`user`,
  project: msg`project`,
  provider: msg`identity provider`,
  registry: msg`registry`,
  session: msg`session`,
  ssh_key: msg`SSH key`,
  storage_host: msg`storage host`,
  template: msg`template`,
  token: msg`token`,
  user: msg`user`,
  vfolder: msg`folder`,
  webhook: msg`webhook`,
};

const VERBS: Readonly<Record<string, MessageDescriptor>> = {
  create: msg`Create`,
  update: msg`Change`,
  remove: msg`Remove`,
};

const LABELS: Readonly<Record<string, MessageDescriptor>> = {
  "app.open": msg`Open app`,
  "audit.export": msg`Export audit trail`,
  "audit.prune": msg`Remove old entries`,
  "auth.confirm": msg`Re-authenticate`,
  "auth.login": msg`Sign in`,
  "auth.logout": msg`Sign out`,
  "auth.recover": msg`Reset password`,
  "image.exempt": msg`Exempt image from the rule on vulnerabilities`,
  "image.scan": msg`Scan image`,
  "auth.sign_up": msg`Sign up`,
  "maintenance.bundle": msg`Download support bundle`,
  "environment.build": msg`Build`,
  "environment.push": msg`Push to a registry`,
  "environment.share": msg`Share`,
  "factor.reset": msg`Reset two-factor authentication`,
  "factor.update": msg`Change two-factor authentication`,
  "file.copy": msg`Copy files`,
  "file.download": msg`Download files`,
  "file.make_directory": msg`Create directory`,
  "file.move": msg`Move files`,
  "file.remove": msg`Delete files`,
  "file.upload": msg`Upload files`,
  "file.write": msg`Edit files`,
  "image.prune": msg`Clean up images`,
  "image.pull": msg`Pull image to nodes`,
  "keypair.limit": msg`Set rate limit`,
  "keypair.rotate": msg`Rotate secret`,
  "login.remove": msg`End sign-ins`,
  "notification.update": msg`Choose notifications`,
  "password.update": msg`Change password`,
  "policy.assign": msg`Assign`,
  "profile.update": msg`Change profile`,
  "project.enrol": msg`Change members`,
  "scheduler.export": msg`Export scheduler trace`,
  "session.designate": msg`Choose node`,
  "session.exec": msg`Run a command`,
  "session.exempt": msg`Exempt from idle checks`,
  "session.join": msg`Open link`,
  "session.keep": msg`Keep running`,
  "session.leave": msg`Leave`,
  "session.prioritise": msg`Raise priority`,
  "session.read": msg`Read log`,
  "session.remove": msg`Terminate`,
  "session.restart": msg`Restart`,
  "session.save": msg`Save as environment`,
  "session.share": msg`Share`,
  "site.update": msg`Change settings`,
  "ssh_key.certify": msg`Obtain certificate`,
  "user.appoint": msg`Appoint administrators`,
  "user.purge": msg`Delete permanently`,
  "user.recover": msg`Create password reset link`,
  "vfolder.hand_over": msg`Transfer ownership`,
  "vfolder.join": msg`Accept, decline or leave`,
  "vfolder.link": msg`Create download link`,
  "vfolder.remove": msg`Delete permanently`,
  "vfolder.share": msg`Share`,
  "vfolder.use": msg`Use files`,
};

/** The short name of an action within its kind; undefined if it is not audited. */
export const labelOf = (action: string): MessageDescriptor | undefined =>
  LABELS[action] ?? VERBS[action.split(".")[1] ?? ""];

/** Actions that leave no entry, besides those that only read. */
const NOT_AUDITED: readonly string[] = ["server.greet", "server.health", "auth.me", "audit.verify"];

const AUDITED: readonly string[] = [
  ...new Set([
    ...Object.keys(ACTIONS).filter((action) => !action.endsWith(".read") && !NOT_AUDITED.includes(action)),
    ...Object.keys(LABELS),
  ]),
];

/** The kinds of objects whose actions are audited. */
export const AUDITED_KINDS: readonly string[] = [
  ...new Set(AUDITED.map((action) => action.split(".")[0] ?? "")),
];

export const actionsOfKind = (kind: string): string[] =>
  AUDITED.filter((action) => action.startsWith(`${kind}.`));
