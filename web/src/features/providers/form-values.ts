import type {
  GroupRule,
  LdapOptions,
  OidcOptions,
  Provider,
  ProviderCreate,
  ProviderUpdate,
} from "@/api/types";

/** A rule as the form holds it: empty texts where nothing is chosen. */
export type Rule = { group: string; project: string; admin: boolean; role: string };

/** What the form about a provider holds. */
export type ProviderValues = {
  name: string;
  kind: "oidc" | "ldap";
  active: boolean;
  domain: string;
  secret: string;
  mapping: Rule[];
  oidc: Required<OidcOptions>;
  ldap: Required<LdapOptions>;
};

const SHARED = {
  label: "",
  create_users: true,
  trusted_email_domains: [],
  may_appoint_superadmins: false,
  ca: "",
};

export function freshProvider(domain: string): ProviderValues {
  return {
    name: "",
    kind: "oidc",
    active: true,
    domain,
    secret: "",
    mapping: [],
    oidc: {
      ...SHARED,
      issuer: "",
      client_id: "",
      scopes: ["openid", "email", "profile"],
      email_claim: "email",
      name_claim: "name",
      groups_claim: "groups",
      require_verified_email: true,
      sign_in_confirms: false,
      trusted_factors: [],
    },
    ldap: {
      ...SHARED,
      host: "",
      port: null,
      tls: "starttls",
      bind_dn: "",
      user_base: "",
      user_filter: "(&(objectClass=person)(|(uid={login})(mail={login})))",
      subject_attribute: "entryUUID",
      email_attribute: "mail",
      name_attribute: "cn",
      groups_attribute: "memberOf",
      group_base: "",
      group_filter: "(member={dn})",
    },
  };
}

export function providerValues(provider: Provider): ProviderValues {
  const fresh = freshProvider(provider.domain.id);
  return {
    ...fresh,
    name: provider.name,
    kind: provider.kind,
    active: provider.active,
    oidc: { ...fresh.oidc, ...provider.oidc },
    ldap: { ...fresh.ldap, ...provider.ldap },
    mapping: provider.mapping.map(({ group, project, admin, role }) => ({
      group,
      project: project?.id ?? "",
      admin,
      role: role ?? "",
    })),
  };
}

const rules = (mapping: Rule[]): GroupRule[] =>
  mapping.map(({ group, project, admin, role }) => ({
    group,
    project: project || null,
    admin: project !== "" && admin,
    role: role === "domain_admin" || role === "superadmin" ? role : null,
  }));

/** The request for a new provider. */
export function toCreateProvider(values: ProviderValues): ProviderCreate {
  const { name, kind, active, domain, secret, mapping } = values;
  return {
    name,
    active,
    domain,
    [kind]: values[kind],
    ...(secret ? { secret } : {}),
    mapping: rules(mapping),
  };
}

/** What is other than before. */
export function toUpdateProvider(before: ProviderValues, now: ProviderValues): ProviderUpdate {
  const other = (key: keyof ProviderValues) => JSON.stringify(before[key]) !== JSON.stringify(now[key]);
  return {
    ...(other("active") ? { active: now.active } : {}),
    ...(other("domain") ? { domain: now.domain } : {}),
    ...(other(now.kind) ? { [now.kind]: now[now.kind] } : {}),
    ...(now.secret ? { secret: now.secret } : {}),
    ...(other("mapping") ? { mapping: rules(now.mapping) } : {}),
  };
}
