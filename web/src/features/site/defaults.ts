import type { Site } from "@/api/types";

/** A setting on this page. */
export type SiteSetting = Exclude<
  keyof Site,
  "mail_password_set" | "mail_error" | "mail_error_at" | "mail_waiting"
>;

/** The server's defaults; a test compares them. */
export const SITE_DEFAULTS: Required<Pick<Site, SiteSetting>> = {
  password_min_length: 10,
  password_classes: 2,
  password_refuse_common: true,
  password_history: 5,
  lock_attempts: 10,
  lock_address_attempts: 50,
  lock_minutes: 20,
  login_idle_minutes: 4320,
  login_lifetime_hours: 336,
  second_factor: "nobody",
  sign_up: false,
  sign_up_email_domains: [],
  sign_up_domain: null,
  sign_up_project: null,
  sign_up_verification: true,
  sign_up_keep_days: 7,
  mail_host: "",
  mail_port: 587,
  mail_tls: "starttls",
  mail_user: "",
  mail_sender: null,
  webhook_private_addresses: false,
  api_rate_limit: 30_000,
  nodes_visible: false,
  audit_retention_days: 0,
  statistics_retention_days: 0,
  upload_most_bytes: 0,
  trash_days: 30,
  image_cleanup_days: 0,
  image_cleanup_free_percent: 0,
  image_watch_start: "02:00",
  image_watch_end: "05:00",
  image_watch_timezone: "UTC",
  slot_prices: {},
  currency: "EUR",
  session_metrics: false,
  import_sources: [],
  image_scan_rule: "off",
  image_scan_severity: "critical",
  image_scan_fixable_only: false,
  image_scan_min_epss_percent: 0,
  image_scan_grace_days: 0,
  image_scan_hours: 24,
  announcement: "",
};

export type SiteValues = Required<Pick<Site, SiteSetting>>;

/** The settings in a response. */
export function siteSettingsOf(site: Site): SiteValues {
  return Object.fromEntries(
    (Object.keys(SITE_DEFAULTS) as SiteSetting[]).map((name) => [name, site[name] ?? SITE_DEFAULTS[name]]),
  ) as SiteValues;
}

/** The settings that changed. */
export function changedSiteSettings(before: SiteValues, now: SiteValues): Partial<SiteValues> {
  return Object.fromEntries(
    (Object.keys(SITE_DEFAULTS) as SiteSetting[])
      .filter((name) => !sameSetting(before[name], now[name]))
      .map((name) => [name, now[name]]),
  );
}

export const sameSetting = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
