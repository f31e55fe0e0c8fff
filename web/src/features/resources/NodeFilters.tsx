import { useLingui } from "@lingui/react/macro";
import { SegmentedControl, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Ref } from "react";
import { groupsChoiceQuery } from "@/queries/groups";
import type { NodesSearch } from "@/routing/search";
import { SearchBox } from "@/ui/table/SearchBox";
import { SelectorFilter } from "./SelectorFilter";

interface Props {
  ref: Ref<HTMLInputElement>;
  search: NodesSearch;
  onChange: (part: Partial<NodesSearch>, replace?: boolean) => void;
}

/** Filters and view of the node list. */
export function NodeFilters({ ref, search, onChange }: Props) {
  const { t } = useLingui();
  const groups = useQuery(groupsChoiceQuery).data ?? [];
  const filter = (
    label: string,
    value: string | undefined,
    data: { value: string; label: string }[],
    onPick: (value: string | undefined) => void,
  ) => (
    <Select
      size="xs"
      w={152}
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
      <SegmentedControl
        size="xs"
        aria-label={t`View`}
        value={search.view ?? "table"}
        onChange={(view) => onChange({ view: view === "map" ? "map" : undefined })}
        data={[
          { value: "table", label: t`Table` },
          { value: "map", label: t`Map` },
        ]}
      />
      <SearchBox
        ref={ref}
        label={t`Search by name`}
        placeholder={t`Name`}
        value={search.q}
        onChange={(q) => onChange({ q }, true)}
      />
      <SelectorFilter value={search.labels} onChange={(labels) => onChange({ labels })} />
      {groups.length > 1 &&
        filter(
          t`Any group`,
          search.group,
          groups.map(({ id, name }) => ({ value: id, label: name })),
          (group) => onChange({ group }),
        )}
      {filter(
        t`Any state`,
        search.state,
        [
          { value: "READY", label: t`Ready` },
          { value: "DOWN", label: t`Down` },
        ],
        (state) => onChange({ state: state as NodesSearch["state"] }),
      )}
      {filter(
        t`Cordon state`,
        search.cordoned,
        [
          { value: "yes", label: t`Cordoned` },
          { value: "no", label: t`Not cordoned` },
        ],
        (cordoned) => onChange({ cordoned: cordoned as NodesSearch["cordoned"] }),
      )}
    </>
  );
}
