import type { I18n, MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Setting } from "@/ui/form/settings";

type Words = { title: MessageDescriptor; text?: MessageDescriptor };

/** What every kind of provider has. */
const SHARED: Record<string, Words> = {
  label: { title: msg`What the sign-in page calls it`, text: msg`Empty: its name.` },
  create_users: { title: msg`People who come for the first time get an account` },
  trusted_email_domains: {
    title: msg`E-mails that it decides about`,
    text: msg`An account that has such an e-mail already is given to whoever the provider says has it.`,
  },
  may_appoint_superadmins: { title: msg`Its groups may make superadmins` },
};

const CERTIFICATES: Words = { title: msg`Certificates to trust besides those of the machine (PEM)` };

/** The kinds that come with Carrel; a plug-in's own words are shown as they are. */
const OURS: Record<string, Record<string, Words>> = {
  oidc: {
    issuer: { title: msg`Issuer` },
    client_id: { title: msg`Client id` },
    client_secret: { title: msg`Secret of the client` },
    scopes: { title: msg`Scopes` },
    email_claim: { title: msg`Claim of the e-mail` },
    name_claim: { title: msg`Claim of the name` },
    groups_claim: { title: msg`Claim of the groups` },
    require_verified_email: { title: msg`The provider must say of the e-mail that it is verified` },
    sign_in_confirms: {
      title: msg`Coming from it proves who it is, where it does not say when they proved it (auth_time)`,
      text: msg`Dangerous changes are then open for 15 minutes after a sign-in.`,
    },
    trusted_factors: {
      title: msg`Counts as a second factor`,
      text: msg`Values of amr or acr, such as mfa: who comes with one is not asked again here.`,
    },
    ca: CERTIFICATES,
  },
  ldap: {
    host: { title: msg`Server` },
    port: { title: msg`Port`, text: msg`Empty: 389, or 636 for TLS.` },
    tls: { title: msg`Encryption`, text: msg`none: in the open, for a server on this machine.` },
    bind_dn: { title: msg`Who searches`, text: msg`A DN; empty: nobody in particular.` },
    bind_password: { title: msg`Password of who searches` },
    user_base: { title: msg`Where people are` },
    user_filter: { title: msg`Filter for people`, text: msg`${"{login}"} is what was typed.` },
    subject_attribute: {
      title: msg`Attribute that never changes`,
      text: msg`It is never given to somebody else.`,
    },
    email_attribute: { title: msg`Attribute of the e-mail` },
    name_attribute: { title: msg`Attribute of the name` },
    groups_attribute: { title: msg`Attribute of the groups` },
    group_base: { title: msg`Where groups are`, text: msg`Empty: groups are not searched for.` },
    group_filter: {
      title: msg`Filter for groups`,
      text: msg`${"{dn}"} is the person's name in the directory, ${"{uid}"} their uid.`,
    },
    ca: CERTIFICATES,
  },
};

const TITLES: Record<string, string> = { oidc: "OpenID Connect", ldap: "LDAP" };

/** What people call a kind. */
export const kindTitle = (kind: string): string => TITLES[kind] ?? kind;

/** The settings of a kind in the reader's language, as far as Carrel knows their words. */
export const translated = (i18n: I18n, kind: string, settings: readonly Setting[]): Setting[] =>
  settings.map((setting) => {
    const words = SHARED[setting.name] ?? OURS[kind]?.[setting.name];
    if (!words) return setting;
    return {
      ...setting,
      title: i18n._(words.title),
      description: words.text ? i18n._(words.text) : setting.description,
    };
  });
