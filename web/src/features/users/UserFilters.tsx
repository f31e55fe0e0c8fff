import { useLingui } from "@lingui/react/macro";
import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Ref } from "react";
import { mayBeyondOwn } from "@/me/may";
import { useMe } from "@/me/use-me";
import { domainsChoiceQuery } from "@/queries/domains";
import { projectsChoiceQuery } from "@/queries/projects";
import { USER_ROLES, USER_STATES, type UsersSearch } from "@/routing/search";
import { SearchBox } from "@/ui/table/SearchBox";
import { ROLES, USER_STATE_NAMES } from "./words";

interface Props {
  ref: Ref<HTMLInputElement>;
  search: UsersSearch;
  onChange: (part: Partial<UsersSearch>) => void;
}

/** Filters of the user list. */
export function UserFilters({ ref, search, onChange }: Props) {
  const { t, i18n } = useLingui();
  const me = useMe();
  const domains = useQuery({ ...domainsChoiceQuery, enabled: mayBeyondOwn(me, "domain.read") }).data ?? [];
  const projects = useQuery(projectsChoiceQuery(search.domain)).data ?? [];
  const several = domains.length > 1;
  const filter = (
    label: string,
    value: string | undefined,
    data: { value: string; label: string }[],
    onPick: (value: string | undefined) => void,
  ) => (
    <Select
      size="xs"
      w={118}
      aria-label={label}
      placeholder={label}
      clearable
      searchable={data.length > 8}
      nothingFoundMessage={t`Nothing found`}
      clearButtonProps={{ "aria-label": t`Clear: ${label}` }}
      data={data}
      value={value ?? null}
      onChange={(next) => onPick(next ?? undefined)}
    />
  );
  return (
    <>
      <SearchBox
        ref={ref}
        label={t`Search by e-mail or name`}
        placeholder={t`E-mail or name`}
        value={search.q}
        onChange={(q) => onChange({ q })}
      />
      {filter(
        t`Any state`,
        search.state,
        USER_STATES.map((value) => ({ value, label: i18n._(USER_STATE_NAMES[value]) })),
        (state) => onChange({ state: state as UsersSearch["state"] }),
      )}
      {filter(
        t`Any role`,
        search.role,
        USER_ROLES.map((value) => ({ value, label: i18n._(ROLES[value]) })),
        (role) => onChange({ role: role as UsersSearch["role"] }),
      )}
      {several &&
        filter(
          t`Any domain`,
          search.domain,
          domains.map(({ id, name }) => ({ value: id, label: name })),
          (domain) => onChange({ domain, project: undefined }),
        )}
      {projects.length > 0 &&
        filter(
          t`Any project`,
          search.project,
          projects.map(({ id, name, domain }) => ({
            value: id,
            label: several && !search.domain ? `${name} (${domain.name})` : name,
          })),
          (project) => onChange({ project }),
        )}
    </>
  );
}
