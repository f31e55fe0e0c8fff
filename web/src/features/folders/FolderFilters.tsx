import { useLingui } from "@lingui/react/macro";
import { SegmentedControl, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Ref } from "react";
import { mayBeyondOwn } from "@/me/may";
import { useMe } from "@/me/use-me";
import { domainsChoiceQuery } from "@/queries/domains";
import type { FolderFilter } from "@/queries/folders";
import { hostsChoiceQuery } from "@/queries/hosts";
import { type FoldersSearch, USAGE_MODES } from "@/routing/search";
import { SearchBox } from "@/ui/table/SearchBox";
import { USAGE_MODE_NAMES } from "./words";

interface Props {
  ref: Ref<HTMLInputElement>;
  search: FoldersSearch;
  of: NonNullable<FolderFilter["of"]>;
  onChange: (part: Partial<FoldersSearch>) => void;
}

/** Filters of a list of folders. */
export function FolderFilters({ ref, search, of, onChange }: Props) {
  const { t, i18n } = useLingui();
  const me = useMe();
  const hosts = useQuery(hostsChoiceQuery).data ?? [];
  const reads = of === "all" && mayBeyondOwn(me, "domain.read");
  const domains = useQuery({ ...domainsChoiceQuery, enabled: reads }).data ?? [];
  const usage = [
    ...USAGE_MODES.map((value) => ({ value: value as string, label: i18n._(USAGE_MODE_NAMES[value]) })),
    { value: "auto", label: t`Mounted automatically` },
  ];
  return (
    <>
      {of === "all" && (
        <SegmentedControl
          size="xs"
          aria-label={t`Folder state`}
          value={search.list ?? "active"}
          onChange={(list) => onChange({ list: list === "trash" ? "trash" : undefined })}
          data={[
            { value: "active", label: t`In use` },
            { value: "trash", label: t`Trash` },
          ]}
        />
      )}
      <Select
        size="xs"
        w={150}
        aria-label={t`Usage`}
        placeholder={t`Usage`}
        clearable
        clearButtonProps={{ "aria-label": t`Any usage` }}
        data={usage}
        value={search.auto === "yes" ? "auto" : (search.mode ?? null)}
        onChange={(value) =>
          onChange(
            value === "auto"
              ? { auto: "yes", mode: undefined }
              : { auto: undefined, mode: (value as FoldersSearch["mode"] | null) ?? undefined },
          )
        }
      />
      {hosts.length > 1 && (
        <Select
          size="xs"
          w={140}
          aria-label={t`Storage host`}
          placeholder={t`Storage host`}
          clearable
          searchable
          clearButtonProps={{ "aria-label": t`All storage hosts` }}
          data={hosts.map(({ name }) => name)}
          value={search.host ?? null}
          onChange={(host) => onChange({ host: host ?? undefined })}
        />
      )}
      {of === "all" && (domains.length > 1 || search.domain) && (
        <Select
          size="xs"
          w={140}
          aria-label={t`Domain`}
          placeholder={t`Domain`}
          clearable
          searchable
          clearButtonProps={{ "aria-label": t`Any domain` }}
          data={[...new Set([...domains.map(({ name }) => name), ...(search.domain ? [search.domain] : [])])]}
          value={search.domain ?? null}
          onChange={(domain) => onChange({ domain: domain ?? undefined })}
        />
      )}
      {of !== "mine" && me.projects.length > 1 && (
        <Select
          size="xs"
          w={140}
          aria-label={t`Project`}
          placeholder={t`Project`}
          clearable
          searchable
          clearButtonProps={{ "aria-label": t`All projects` }}
          data={me.projects.map(({ id, name }) => ({ value: id, label: name }))}
          value={search.project ?? null}
          onChange={(project) => onChange({ project: project ?? undefined })}
        />
      )}
      <SearchBox
        ref={ref}
        label={t`Search by name`}
        placeholder={t`Name`}
        value={search.q}
        onChange={(q) => onChange({ q })}
      />
    </>
  );
}
