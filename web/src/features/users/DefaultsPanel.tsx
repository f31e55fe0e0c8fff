import { Trans, useLingui } from "@lingui/react/macro";
import { Checkbox, Fieldset, MultiSelect, PasswordInput, Select, SimpleGrid, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { DraftUser } from "@/api/types";
import { useRefusal } from "@/me/may";
import { useMe } from "@/me/use-me";
import { domainsChoiceQuery } from "@/queries/domains";
import { projectsChoiceQuery } from "@/queries/projects";
import { USER_STATES } from "@/routing/search";
import type { Way } from "./form-values";
import { ROLES, USER_STATE_NAMES } from "./words";

export interface Defaults {
  domain: string | null;
  projects: string[];
  role: string;
  state: string;
  way: Way;
  password: string;
  must_change_password: boolean;
  description: string;
}

export const freshDefaults: Defaults = {
  domain: null,
  projects: [],
  role: "user",
  state: "active",
  way: "generate",
  password: "",
  must_change_password: true,
  description: "",
};

/** The defaults as the API takes them. */
export function toDefaults({ way, password, domain, ...rest }: Defaults): DraftUser {
  return {
    ...rest,
    ...(domain ? { domain } : {}),
    ...(way === "password" && password ? { password } : {}),
    ...(way === "generate" ? { generate_password: true } : {}),
    ...(way === "link" ? { link: true } : {}),
  };
}

/** Defaults for the rows. */
export function DefaultsPanel({ value, onChange }: { value: Defaults; onChange: (next: Defaults) => void }) {
  const { t, i18n } = useLingui();
  const me = useMe();
  const appoint = useRefusal()("user.appoint");
  const domains = useQuery(domainsChoiceQuery).data ?? [];
  const domain = value.domain ?? me.user.domain.id;
  const projects = useQuery(projectsChoiceQuery(domain)).data ?? [];
  const set = (part: Partial<Defaults>) => onChange({ ...value, ...part });
  return (
    <Fieldset legend={<Trans>Defaults for rows without a value</Trans>}>
      <SimpleGrid cols={{ base: 1, sm: 2, md: 3 }} spacing="sm">
        <Select
          label={t`Domain`}
          allowDeselect={false}
          disabled={domains.length < 2}
          data={domains.map(({ id, name }) => ({ value: id, label: name }))}
          value={domain}
          onChange={(next) => set({ domain: next, projects: [] })}
        />
        <MultiSelect
          label={t`Projects`}
          searchable
          data={projects.map(({ id, name }) => ({ value: id, label: name }))}
          value={value.projects}
          onChange={(next) => set({ projects: next })}
        />
        <Select
          label={t`Role`}
          description={appoint}
          disabled={appoint !== null}
          allowDeselect={false}
          data={(["user", "domain_admin", "superadmin"] as const).map((role) => ({
            value: role,
            label: i18n._(ROLES[role]),
          }))}
          value={value.role}
          onChange={(role) => set({ role: role ?? "user" })}
        />
        <Select
          label={t`State`}
          allowDeselect={false}
          data={USER_STATES.map((state) => ({ value: state, label: i18n._(USER_STATE_NAMES[state]) }))}
          value={value.state}
          onChange={(state) => set({ state: state ?? "active" })}
        />
        <Select
          label={t`First sign-in`}
          allowDeselect={false}
          data={[
            { value: "generate", label: t`Generated password` },
            { value: "link", label: t`One-time link` },
            { value: "password", label: t`Same password for all` },
            { value: "none", label: t`Later` },
          ]}
          value={value.way}
          onChange={(way) => set({ way: (way ?? "generate") as Way })}
        />
        {value.way === "password" && (
          <PasswordInput
            label={t`Password`}
            autoComplete="new-password"
            visibilityToggleButtonProps={{ "aria-label": t`Show the password` }}
            value={value.password}
            onChange={(event) => set({ password: event.currentTarget.value })}
          />
        )}
        <TextInput
          label={t`Description`}
          maxLength={500}
          value={value.description}
          onChange={(event) => set({ description: event.currentTarget.value })}
        />
        <Checkbox
          label={t`Require a password change at the next sign-in`}
          checked={value.must_change_password}
          onChange={(event) => set({ must_change_password: event.currentTarget.checked })}
        />
      </SimpleGrid>
    </Fieldset>
  );
}
