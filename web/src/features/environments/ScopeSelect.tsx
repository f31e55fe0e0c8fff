import { useLingui } from "@lingui/react/macro";
import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { domainsChoiceQuery } from "@/queries/domains";
import { projectsChoiceQuery } from "@/queries/projects";

/** The part of a request that says for whom a registry is. */
export type ScopeValue = "installation" | `domain:${string}` | `project:${string}`;

interface Props {
  value: ScopeValue | "";
  onChange: (value: ScopeValue) => void;
  error?: React.ReactNode;
}

/** For whom a new registry is: among what the user administers. */
export function ScopeSelect({ value, onChange, error }: Props) {
  const { t } = useLingui();
  const me = useMe();
  const everywhere = me.actions["registry.update"] === "all";
  const domains = useQuery({ ...domainsChoiceQuery, enabled: may(me, "domain.read") }).data ?? [];
  const projects = useQuery(projectsChoiceQuery(undefined)).data ?? [];
  const administered = projects.filter(({ id, domain }) =>
    may(me, "registry.update", { project: id, domain: domain.id }),
  );
  return (
    <Select
      label={t`Scope`}
      description={t`Who may use its images with its credentials.`}
      allowDeselect={false}
      searchable
      withAsterisk
      data={[
        ...(everywhere ? [{ value: "installation", label: t`Installation` }] : []),
        ...named(
          t`Domains`,
          domains.map(({ id, name }) => ({ value: `domain:${id}`, label: name })),
        ),
        ...named(
          t`Projects`,
          administered.map(({ id, name, domain }) => ({
            value: `project:${id}`,
            label: everywhere ? `${name} (${domain.name})` : name,
          })),
        ),
      ]}
      value={value || null}
      onChange={(chosen) => chosen && onChange(chosen as ScopeValue)}
      error={error}
    />
  );
}

/** A group of choices, unless there are none. */
const named = (group: string, items: { value: string; label: string }[]) =>
  items.length > 0 ? [{ group, items }] : [];
