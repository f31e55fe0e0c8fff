import type { I18n, MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Setting } from "@/ui/form/settings";

type Words = { title: MessageDescriptor; text?: MessageDescriptor };

/** Settings that all provider kinds share. */
const SHARED: Record<string, Words> = {
  label: { title: msg`Display name`, text: msg`If empty, the name is shown.` },
  create_users: { title: msg`Create accounts at first sign-in` },
  trusted_email_domains: {
    title: msg`Trusted e-mail domains`,
    text: msg`Domains such as example.org. A sign-in with such an address is linked to the existing account that has it.`,
  },
  may_appoint_superadmins: { title: msg`Groups can grant the superadmin role` },
};

const CERTIFICATES: Words = { title: msg`Additional CA certificates (PEM)` };

/** The built-in kinds; plug-ins bring their own texts. */
const OURS: Record<string, Record<string, Words>> = {
  oidc: {
    issuer: { title: msg`Issuer` },
    client_id: { title: msg`Client ID` },
    client_secret: { title: msg`Client secret` },
    scopes: { title: msg`Scopes` },
    email_claim: { title: msg`E-mail claim` },
    name_claim: { title: msg`Name claim` },
    groups_claim: { title: msg`Groups claim` },
    require_verified_email: { title: msg`Require a verified e-mail address` },
    sign_in_confirms: {
      title: msg`Accept a sign-in without auth_time as recent`,
      text: msg`Dangerous changes are then open for 15 minutes after a sign-in.`,
    },
    trusted_factors: {
      title: msg`Counts as two-factor authentication`,
      text: msg`Values of the amr or acr claim, such as mfa. Users who sign in with one of them skip two-factor authentication here.`,
    },
    ca: CERTIFICATES,
  },
  ldap: {
    host: { title: msg`Server` },
    port: { title: msg`Port`, text: msg`Default: 389, or 636 for TLS.` },
    tls: {
      title: msg`Encryption`,
      text: msg`none sends passwords unencrypted: only for a server on this machine.`,
    },
    bind_dn: {
      title: msg`Bind DN`,
      text: msg`DN of the account that searches the directory. If empty, the search is anonymous.`,
    },
    bind_password: { title: msg`Bind password` },
    user_base: { title: msg`User search base` },
    user_filter: { title: msg`User filter`, text: msg`${"{login}"} is replaced with what the user enters.` },
    subject_attribute: {
      title: msg`Unique ID attribute`,
      text: msg`Its value never changes and is never given to another user.`,
    },
    email_attribute: { title: msg`E-mail attribute` },
    name_attribute: { title: msg`Name attribute` },
    groups_attribute: { title: msg`Groups attribute` },
    group_base: { title: msg`Group search base`, text: msg`If empty, groups are not searched for.` },
    group_filter: {
      title: msg`Group filter`,
      text: msg`${"{dn}"} is replaced with the user's DN, ${"{uid}"} with their uid.`,
    },
    ca: CERTIFICATES,
  },
};

const TITLES: Record<string, string> = { oidc: "OpenID Connect", ldap: "LDAP" };

/** Display name of a provider kind. */
export const providerKindTitle = (kind: string): string => TITLES[kind] ?? kind;

/** The settings of a kind, translatedProviderSettings where a translation exists. */
export const translatedProviderSettings = (
  i18n: I18n,
  kind: string,
  settings: readonly Setting[],
): Setting[] =>
  settings.map((setting) => {
    const words = SHARED[setting.name] ?? OURS[kind]?.[setting.name];
    if (!words) return setting;
    return {
      ...setting,
      title: i18n._(words.title),
      description: words.text ? i18n._(words.text) : setting.description,
    };
  });
