import { useLingui } from "@lingui/react/macro";
import { Checkbox, Pill, SegmentedControl, Select } from "@mantine/core";
import type { Ref } from "react";
import type { Project } from "@/api/types";
import type { SessionFilter } from "@/cache/patch";
import type { SessionsSearch } from "@/routing/search";
import { SearchBox } from "@/ui/table/SearchBox";
import { ArrayPill } from "./ArrayPill";
import { MoreSessionFilters } from "./MoreSessionFilters";

interface Props {
  ref: Ref<HTMLInputElement>;
  search: SessionsSearch;
  filter: SessionFilter;
  mayseeAll: boolean;
  /** Offered as a filter if there are several. */
  projects: Project[];
  onChange: (part: Partial<SessionsSearch>) => void;
}

/** Filters of the session list. */
export function SessionFilters({ ref, search, filter, mayseeAll, projects, onChange }: Props) {
  const { t } = useLingui();
  return (
    <>
      <SegmentedControl
        size="xs"
        aria-label={t`Session state`}
        value={["live", "ended", "all"].includes(filter.state) ? filter.state : ""}
        onChange={(state) => onChange({ state: state === "live" ? undefined : (state as "ended" | "all") })}
        data={[
          { value: "live", label: t`Live` },
          { value: "ended", label: t`Ended` },
          { value: "all", label: t`All` },
        ]}
      />
      <SearchBox
        ref={ref}
        label={t`Search by name or image`}
        placeholder={t`Name or image`}
        value={search.q}
        onChange={(next) => onChange({ q: next })}
      />
      {(projects.length > 1 || filter.project) && (
        <Select
          size="xs"
          w={150}
          aria-label={t`Project`}
          placeholder={t`All projects`}
          clearable
          clearButtonProps={{ "aria-label": t`All projects` }}
          data={projectNames(projects, filter.project)}
          value={filter.project ?? null}
          onChange={(name) => onChange({ project: name ?? undefined })}
        />
      )}
      <MoreSessionFilters search={search} onChange={onChange} />
      {filter.array !== undefined && (
        <ArrayPill id={filter.array} onRemove={() => onChange({ array: undefined, state: undefined })} />
      )}
      {!["me", "shared", "all"].includes(filter.owner) && (
        <Pill
          withRemoveButton
          removeButtonProps={{ "aria-label": t`Show sessions of all projects, not only ${filter.owner}` }}
          onRemove={() => onChange({ owner: "all" })}
        >
          {filter.owner}
        </Pill>
      )}
      <Checkbox
        size="xs"
        label={t`Shared with me`}
        checked={filter.owner === "shared"}
        onChange={(event) => onChange({ owner: event.currentTarget.checked ? "shared" : undefined })}
      />
      {mayseeAll && (
        <Checkbox
          size="xs"
          label={t`Everyone's`}
          checked={filter.owner === "all"}
          onChange={(event) => onChange({ owner: event.currentTarget.checked ? "all" : undefined })}
        />
      )}
    </>
  );
}

/** The user's projects, and the one in the URL. */
function projectNames(projects: Project[], named: string | undefined): string[] {
  const names = projects.map(({ name }) => name);
  return named && !names.includes(named) ? [...names, named] : names;
}
