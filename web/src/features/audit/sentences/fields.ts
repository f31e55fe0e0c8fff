import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { User } from "@/api/types";
import { PERMISSIONS } from "@/features/folders/words";
import { LIMIT_TITLES } from "@/features/policies/limit-words";
import { ROLES, USER_STATE_NAMES } from "@/features/users/words";
import { formatSize, formatWhole } from "@/ui/format";
import { slotsWords } from "@/ui/slots";
import { isObject, type Voice } from "./voice";

const FIELDS: Readonly<Record<string, MessageDescriptor>> = {
  ...LIMIT_TITLES,
  access: msg`Access list`,
  active: msg`Active`,
  addresses: msg`Allowed addresses`,
  announcement: msg`Announcement`,
  api_rate_limit: msg`Rate limit`,
  app_address: msg`App address`,
  archived: msg`Archived`,
  audit_retention_days: msg`Retention of the audit trail`,
  ceilings: msg`Limits`,
  cordoned: msg`Cordoned`,
  cpu_overcommit: msg`CPU overcommit`,
  description: msg`Description`,
  domain: msg`Domain`,
  draining: msg`Draining`,
  expires_at: msg`Expires`,
  fingerprint: msg`Fingerprint`,
  group_id: msg`Resource group`,
  half_life_s: msg`Half-life of past usage`,
  host: msg`Storage host`,
  image: msg`Image`,
  image_scan_fixable_only: msg`Vulnerabilities with a fix only`,
  image_scan_min_epss_percent: msg`Least EPSS of the rule on vulnerabilities`,
  image_scan_grace_days: msg`Grace of the rule on vulnerabilities`,
  image_scan_hours: msg`Interval of image scans`,
  image_scan_rule: msg`Rule on vulnerabilities`,
  image_scan_severity: msg`Least severity of the rule on vulnerabilities`,
  image_watch_end: msg`End of the daily checks for updates`,
  image_watch_start: msg`Begin of the daily checks for updates`,
  image_watch_timezone: msg`Time zone of the daily checks for updates`,
  import_sources: msg`Permitted sources of imports`,
  kind: msg`Kind`,
  limits: msg`Limits`,
  lock_address_attempts: msg`Failed attempts until an IP address is locked`,
  lock_attempts: msg`Failed attempts until an account is locked`,
  lock_minutes: msg`Lockout duration`,
  login_idle_minutes: msg`Idle time-out of sign-ins`,
  login_lifetime_hours: msg`Maximum lifetime of sign-ins`,
  mail_host: msg`Mail server`,
  mail_password: msg`Mail password`,
  mail_port: msg`Mail port`,
  mail_sender: msg`From address`,
  mail_tls: msg`Mail encryption`,
  mail_user: msg`Mail user`,
  mapping: msg`Group mapping`,
  mounts: msg`Mounts`,
  max_rights: msg`Highest rights`,
  must_change_password: msg`Password change required`,
  name: msg`Name`,
  node_loss_s: msg`Node failure time-out`,
  nodes_visible: msg`Nodes visible to users`,
  on_node_loss: msg`When a node is lost`,
  owner: msg`Owner`,
  required_capabilities: msg`Required capabilities`,
  min_share_tier: msg`Enforced shares of GPUs`,
  topology: msg`Topology`,
  runtime: msg`Container runtime`,
  elastic: msg`Elastic`,
  password_classes: msg`Password character classes`,
  password_history: msg`Password history`,
  password_min_length: msg`Minimum password length`,
  password_refuse_common: msg`Reject common passwords`,
  patience_s: msg`Starvation limit`,
  pending_timeout_s: msg`Pending time-out`,
  permission: msg`Permission`,
  placement: msg`Placement`,
  policy: msg`Resource policy`,
  preferences: msg`Preferences`,
  priority: msg`Priority`,
  project: msg`Project`,
  projects: msg`Projects`,
  public: msg`Open to everyone`,
  rate_limit: msg`Rate limit`,
  registries: msg`Registries`,
  reserved: msg`Reserved resources`,
  resource_groups: msg`Resource groups`,
  role: msg`Role`,
  root: msg`Path`,
  scheduler: msg`Queue order`,
  scopes: msg`Permissions`,
  second_factor: msg`Two-factor authentication required for`,
  secrets: msg`Secrets`,
  session_kinds: msg`Session kinds`,
  settings: msg`Settings`,
  sign_up: msg`Sign-up`,
  sign_up_domain: msg`Domain of new users`,
  sign_up_email_domains: msg`E-mail domains that can sign up`,
  sign_up_keep_days: msg`Deletion of unverified accounts`,
  sign_up_project: msg`Project of new users`,
  sign_up_verification: msg`E-mail verification`,
  slot_priority: msg`Slot priority`,
  state: msg`State`,
  trash_days: msg`Time in the trash`,
  upload_most_bytes: msg`Maximum size of an uploaded file`,
  usage_mode: msg`Usage mode`,
  webhook_private_addresses: msg`Webhooks to private addresses`,
  weights: msg`Fair-share weights`,
};

/** The name of a changed field; unknown ones, such as those of plug-ins, without underscores. */
export function fieldText({ say }: Voice, field: string): string {
  const known = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
  return known ? say(known) : field.replaceAll("_", " ");
}

/** A field's name within a sentence: "lockout duration", but "CPU overcommit". */
export function fieldInSentence(voice: Voice, field: string): string {
  return inSentence(fieldText(voice, field));
}

/** Begins with a small letter, unless it is an abbreviation. */
export const inSentence = (title: string): string =>
  /^\p{Lu}\p{Ll}/u.test(title) ? title.charAt(0).toLowerCase() + title.slice(1) : title;

const SLOTS = new Set(["slots", "pending_slots", "ceilings", "reserved"]);
const SECONDS: readonly [suffix: string, seconds: number][] = [
  ["_days", 86_400],
  ["_hours", 3600],
  ["_minutes", 60],
  ["_s", 1],
];

/** The value of a field as people write it. */
export function valueText(voice: Voice, field: string, value: unknown): string {
  const { say, locale } = voice;
  if (value === undefined || value === null || value === "") return say(msg`none`);
  if (value === "unlimited") return say(msg`unlimited`);
  if (typeof value === "boolean") return say(value ? msg`on` : msg`off`);
  if (typeof value === "number") {
    const seconds = SECONDS.find(([suffix]) => field.endsWith(suffix))?.[1];
    if (seconds && value > 0) return formatWhole(value * seconds, locale);
    return field.endsWith("_bytes") ? formatSize(value) : String(value);
  }
  if (typeof value === "string") return wordText(voice, field, value);
  if (Array.isArray(value)) {
    const texts = value.map((one) => valueText(voice, field, one));
    return texts.join(", ") || say(msg`none`);
  }
  if (SLOTS.has(field) && isObject(value) && Object.values(value).every((one) => typeof one === "number"))
    return slotsWords(value as Record<string, number>).join(", ") || say(msg`none`);
  return JSON.stringify(value);
}

/** Words of the server with a name on the page. */
function wordText({ say }: Voice, field: string, value: string): string {
  if (field === "role" && value in ROLES) return say(ROLES[value as User["role"]]);
  if (field === "state" && value in USER_STATE_NAMES) return say(USER_STATE_NAMES[value as User["state"]]);
  if (field === "permission" && value in PERMISSIONS)
    return say(PERMISSIONS[value as keyof typeof PERMISSIONS].title);
  return value;
}
