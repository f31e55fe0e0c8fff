import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Me } from "@/api/types";
import type { SiteSetting } from "@/features/site/defaults";
import type { Target } from "./entry";

export interface SettingEntry {
  title: MessageDescriptor;
  section: MessageDescriptor;
  synonyms?: readonly string[];
}

const PASSWORDS = msg`Passwords`;
const LOCKOUT = msg`Account lockout`;
const SIGN_INS = msg`Sign-in sessions`;
const SIGN_UP = msg`Sign-up`;
const MAIL = msg`Mail`;
const FOLDERS = msg`Folders`;
const USAGE = msg`Usage and prices`;
const IMAGE_UPDATES = msg`Updates of images`;
const SCANS = msg`Vulnerabilities of images`;

/** Every setting of the configuration, by its name in the API. */
export const SITE_SETTINGS: Record<SiteSetting | "mail_password", SettingEntry> = {
  password_min_length: { title: msg`Minimum length`, section: PASSWORDS, synonyms: ["password rules"] },
  password_classes: {
    title: msg`Character classes (lowercase, uppercase, digits, symbols)`,
    section: PASSWORDS,
    synonyms: ["password strength"],
  },
  password_history: { title: msg`Previous passwords that cannot be reused`, section: PASSWORDS },
  password_refuse_common: { title: msg`Reject passwords that are easy to guess`, section: PASSWORDS },
  lock_attempts: {
    title: msg`Failed attempts until an account is locked`,
    section: LOCKOUT,
    synonyms: ["brute force"],
  },
  lock_address_attempts: { title: msg`Failed attempts until an IP address is locked`, section: LOCKOUT },
  lock_minutes: { title: msg`Lockout duration`, section: LOCKOUT, synonyms: ["unlock"] },
  login_idle_minutes: {
    title: msg`Idle time-out`,
    section: SIGN_INS,
    synonyms: ["timeout", "automatic sign-out"],
  },
  login_lifetime_hours: { title: msg`Maximum lifetime`, section: SIGN_INS, synonyms: ["stay signed in"] },
  second_factor: {
    title: msg`Required for`,
    section: msg`Two-factor authentication`,
    synonyms: ["require 2fa", "mfa", "two factor required"],
  },
  sign_up: { title: msg`Allow users to sign up`, section: SIGN_UP, synonyms: ["registration", "register"] },
  sign_up_verification: { title: msg`Require e-mail verification`, section: SIGN_UP },
  sign_up_keep_days: { title: msg`Days until unverified accounts are deleted (0: never)`, section: SIGN_UP },
  sign_up_domain: { title: msg`Domain of new users`, section: SIGN_UP },
  sign_up_project: { title: msg`Project of new users`, section: SIGN_UP },
  sign_up_email_domains: { title: msg`Allowed e-mail domains`, section: SIGN_UP },
  mail_host: { title: msg`Mail server`, section: MAIL, synonyms: ["smtp", "email"] },
  mail_port: { title: msg`Port`, section: MAIL, synonyms: ["smtp port"] },
  mail_tls: { title: msg`Encryption`, section: MAIL, synonyms: ["tls", "starttls"] },
  mail_sender: { title: msg`From address`, section: MAIL, synonyms: ["sender"] },
  mail_user: { title: msg`User name`, section: MAIL, synonyms: ["smtp user"] },
  mail_password: { title: msg`Mail server password`, section: MAIL, synonyms: ["smtp password"] },
  webhook_private_addresses: { title: msg`Allow private addresses`, section: msg`Webhooks` },
  api_rate_limit: {
    title: msg`Requests per user in 15 minutes`,
    section: msg`Rate limit`,
    synonyms: ["api limit", "throttling"],
  },
  audit_retention_days: {
    title: msg`Days to keep entries (0: forever)`,
    section: msg`Audit`,
    synonyms: ["audit retention"],
  },
  statistics_retention_days: {
    title: msg`Days of statistics to keep (0: all)`,
    section: USAGE,
    synonyms: ["retention"],
  },
  image_cleanup_days: {
    title: msg`Days without use after which images are removed (0: never)`,
    section: msg`Nodes`,
    synonyms: ["prune images"],
  },
  image_cleanup_free_percent: {
    title: msg`Free space of the disk, in percent, below which unused images are removed (0: never)`,
    section: msg`Nodes`,
    synonyms: ["prune images", "disk full"],
  },
  image_watch_start: {
    title: msg`Daily checks for updates from`,
    section: IMAGE_UPDATES,
    synonyms: ["watch images", "digest"],
  },
  image_watch_end: { title: msg`Daily checks for updates until`, section: IMAGE_UPDATES },
  image_watch_timezone: { title: msg`Time zone of the daily checks`, section: IMAGE_UPDATES },
  trash_days: { title: msg`Days in the trash (0: no automatic deletion)`, section: FOLDERS },
  upload_most_bytes: {
    title: msg`Maximum size of an uploaded file`,
    section: FOLDERS,
    synonyms: ["upload limit"],
  },
  slot_prices: { title: msg`Prices per hour`, section: USAGE, synonyms: ["cost", "billing", "요금", "料金"] },
  currency: { title: msg`Currency`, section: USAGE },
  session_metrics: {
    title: msg`Export usage of each session as Prometheus metrics`,
    section: USAGE,
    synonyms: ["prometheus", "grafana"],
  },
  nodes_visible: {
    title: msg`Show nodes to users who can use them`,
    section: msg`Nodes`,
    synonyms: ["agent summary"],
  },
  import_sources: {
    title: msg`Permitted sources`,
    section: msg`Import & Run`,
    synonyms: ["github", "git", "hugging face", "notebook"],
  },
  image_scan_rule: {
    title: msg`Sessions of images with vulnerabilities`,
    section: SCANS,
    synonyms: ["cve", "trivy", "grype", "security"],
  },
  image_scan_severity: { title: msg`Least severity`, section: SCANS },
  image_scan_fixable_only: { title: msg`Only vulnerabilities with a fix`, section: SCANS },
  image_scan_min_epss_percent: { title: msg`Least EPSS, in percent`, section: SCANS },
  image_scan_grace_days: { title: msg`Days of grace`, section: SCANS },
  image_scan_hours: { title: msg`Hours between scans`, section: SCANS },
  announcement: {
    title: msg`Announcement`,
    section: msg`Configuration`,
    synonyms: ["banner", "message", "motd", "notice"],
  },
};

/** Fields of the user's own settings that have no page of their own. The hash is the `data-path` of the field. */
export const OWN_SETTINGS: readonly (SettingEntry & Target & { shown?: (me: Me) => boolean })[] = [
  {
    title: msg`Name`,
    section: msg`Profile`,
    to: "/settings/profile",
    hash: "name",
    synonyms: ["change name", "rename"],
  },
  {
    title: msg`Language`,
    section: msg`Preferences`,
    to: "/settings/preferences",
    hash: "language",
    synonyms: ["locale", "change language", "korean", "japanese", "언어", "言語"],
  },
  {
    title: msg`Theme`,
    section: msg`Preferences`,
    to: "/settings/preferences",
    hash: "theme",
    synonyms: ["colors", "colours", "appearance"],
  },
  {
    title: msg`Notify me about`,
    section: msg`Preferences`,
    to: "/settings/preferences",
    hash: "notifications",
    synonyms: ["notifications", "알림", "通知"],
    shown: (me) => me.user.role !== "user",
  },
  {
    title: msg`Shell`,
    section: msg`Preferences`,
    to: "/settings/preferences",
    hash: "shell",
    synonyms: ["terminal shell", "bash", "zsh"],
  },
  {
    title: msg`Authenticator app`,
    section: msg`Two-factor authentication`,
    to: "/settings/two-factor",
    hash: "totp",
    synonyms: ["totp", "qr code"],
  },
  {
    title: msg`Recovery codes`,
    section: msg`Two-factor authentication`,
    to: "/settings/two-factor",
    hash: "recovery",
    synonyms: ["backup codes"],
  },
];
