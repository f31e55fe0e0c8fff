import type { GroupRule, Provider, ProviderCreate, ProviderUpdate } from "@/api/types";
import { changedSettings, givenSettings, type Setting, type SettingValues } from "@/ui/form/settings";

/** A mapping rule as form values: empty strings where nothing is selected. */
export type Rule = { group: string; project: string; admin: boolean; role: string };

/** Form values of a provider. */
export type ProviderValues = {
  name: string;
  kind: string;
  active: boolean;
  domain: string;
  settings: SettingValues;
  mapping: Rule[];
};

export const freshProvider = (domain: string): ProviderValues => ({
  name: "",
  kind: "oidc",
  active: true,
  domain,
  settings: {},
  mapping: [],
});

export const providerValues = (provider: Provider): ProviderValues => ({
  name: provider.name,
  kind: provider.kind,
  active: provider.active,
  domain: provider.domain.id,
  settings: provider.settings,
  mapping: provider.mapping.map(({ group, project, admin, role }) => ({
    group,
    project: project?.id ?? "",
    admin,
    role: role ?? "",
  })),
});

const rules = (mapping: Rule[]): GroupRule[] =>
  mapping.map(({ group, project, admin, role }) => ({
    group,
    project: project || null,
    admin: project !== "" && admin,
    role: role === "domain_admin" || role === "superadmin" ? role : null,
  }));

/** The request that creates a provider. */
export function toCreateProvider(settings: readonly Setting[], values: ProviderValues): ProviderCreate {
  const { name, kind, active, domain, mapping } = values;
  return {
    name,
    kind,
    active,
    domain,
    settings: givenSettings(settings, values.settings),
    mapping: rules(mapping),
  };
}

/** The fields that differ from the saved provider. */
export function toUpdateProvider(
  settings: readonly Setting[],
  before: ProviderValues,
  now: ProviderValues,
): ProviderUpdate {
  const other = (key: keyof ProviderValues) => JSON.stringify(before[key]) !== JSON.stringify(now[key]);
  const changed = changedSettings(settings, before.settings, now.settings);
  return {
    ...(other("active") ? { active: now.active } : {}),
    ...(other("domain") ? { domain: now.domain } : {}),
    ...(Object.keys(changed).length > 0 ? { settings: changed } : {}),
    ...(other("mapping") ? { mapping: rules(now.mapping) } : {}),
  };
}
