import { Plural, useLingui } from "@lingui/react/macro";
import { SegmentedControl, Select } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Suspense, useCallback, useDeferredValue, useMemo, useRef } from "react";
import type { WholeProject } from "@/api/types";
import { part } from "@/app/part";
import type { PlacesSearch } from "@/app/search";
import { domainsChoiceQuery } from "@/queries/domains-list";
import { everyProject, type ProjectFilter, projectsListQuery } from "@/queries/projects-list";
import { mayBeyondOwn, useRefusal } from "@/shell/may";
import { useMe } from "@/shell/use-me";
import { EmptyState } from "@/ui/EmptyState";
import { MainButton } from "@/ui/MainButton";
import { ColumnMenu } from "@/ui/table/ColumnMenu";
import { DataTable } from "@/ui/table/DataTable";
import { ExportButton } from "@/ui/table/ExportButton";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { SearchBox } from "@/ui/table/SearchBox";
import { serverSort } from "@/ui/table/sorted";
import { useColumnChoice } from "@/ui/table/use-column-choice";
import { usePageKeys } from "@/ui/table/use-page-keys";
import { useLast } from "@/ui/use-last";
import { usePageTitle } from "@/ui/use-page-title";
import { useReturnFocus } from "@/ui/use-return-focus";
import { PeopleTabs } from "@/users/PeopleTabs";
import { PROJECT_COLUMNS, PROJECT_FIELDS } from "./columns";
import { ProjectTools } from "./ProjectTools";
import { useProjectActs } from "./use-project-acts";

const ProjectDrawer = part(() => import("./ProjectDrawer").then((m) => m.ProjectDrawer));
const ProjectFormDrawer = part(() => import("./ProjectForm").then((m) => m.ProjectFormDrawer));

const route = getRouteApi("/shell/projects");
const idOf = (project: WholeProject) => project.id;
const look = (project: WholeProject) => ({ name: project.name, ended: project.archived_at !== null });
const ARCHIVED = { off: true, all: undefined } as const;

/** The projects that somebody is in or administers. */
export function ProjectsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/projects" });
  const me = useMe();
  const acts = useProjectActs();
  const refusal = useRefusal();
  const searchBox = useRef<HTMLInputElement>(null);
  const [visible, setVisible] = useColumnChoice("projects", PROJECT_COLUMNS);
  const shown = useLast(search.open);
  const edited = useLast(search.edit);
  const domains = useQuery({ ...domainsChoiceQuery, enabled: mayBeyondOwn(me, "domain.read") }).data ?? [];
  usePageTitle(t`Projects`);
  useReturnFocus([search.open, search.edit, search.make].some((one) => one !== undefined));

  const change = useCallback(
    (part: Partial<PlacesSearch>, replace = false) =>
      void navigate({ search: (now) => ({ ...now, ...part }), replace }),
    [navigate],
  );
  const filter: ProjectFilter = {
    q: useDeferredValue(search.q),
    domain: search.domain,
    archived: search.state ? ARCHIVED[search.state] : false,
    sort: serverSort(PROJECT_COLUMNS, search),
  };
  const list = useInfiniteQuery(projectsListQuery(filter));
  const projects = useMemo(() => (list.data?.pages ?? []).flatMap((page) => page.items), [list.data]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const open = useCallback((project: WholeProject) => change({ open: project.id }), [change]);
  const edit = useCallback((project: WholeProject) => change({ edit: project.id }), [change]);
  const whyNotMake = refusal("project.create");
  const make = useCallback(() => change({ make: "one" }), [change]);
  const tools = useCallback(
    (project: WholeProject) => <ProjectTools project={project} acts={acts} onEdit={edit} />,
    [acts, edit],
  );
  usePageKeys({ onNew: whyNotMake ? undefined : make, onSearch: () => searchBox.current?.focus() });

  return (
    <div className={styles.page}>
      <PeopleTabs />
      <ListToolbar
        title={t`Projects`}
        tools={
          <>
            <ColumnMenu columns={PROJECT_COLUMNS} chosen={visible} onChange={setVisible} />
            <ExportButton name="projects" fields={PROJECT_FIELDS} all={() => everyProject(filter)} />
          </>
        }
        action={<MainButton icon={IconPlus} label={t`New project`} refusal={whyNotMake} onClick={make} />}
      >
        <SegmentedControl
          size="xs"
          aria-label={t`Which projects`}
          value={search.state ?? "on"}
          onChange={(state) => change({ state: state === "on" ? undefined : (state as "off" | "all") })}
          data={[
            { value: "on", label: t`In use` },
            { value: "off", label: t`Archived` },
            { value: "all", label: t`All` },
          ]}
        />
        <SearchBox
          ref={searchBox}
          label={t`Search by name`}
          placeholder={t`Name`}
          value={search.q}
          onChange={(q) => change({ q }, true)}
        />
        {domains.length > 1 && (
          <Select
            size="xs"
            w={150}
            aria-label={t`Any domain`}
            placeholder={t`Any domain`}
            clearable
            clearButtonProps={{ "aria-label": t`Any domain` }}
            data={domains.map(({ id, name }) => ({ value: id, label: name }))}
            value={search.domain ?? null}
            onChange={(domain) => change({ domain: domain ?? undefined })}
          />
        )}
      </ListToolbar>
      <DataTable
        label={t`Projects`}
        rows={projects}
        rowId={idOf}
        columns={PROJECT_COLUMNS}
        visible={visible}
        loading={list.isPending}
        problem={list.error}
        onRetry={() => void list.refetch()}
        sorting={search}
        onSort={change}
        presorted
        look={look}
        opened={search.open}
        onOpen={open}
        tools={tools}
        toolsWidth="7.25rem"
        minWidth="64rem"
        onNearEnd={more}
        empty={
          <EmptyState
            title={
              search.q || search.domain || search.state
                ? t`No project meets the filter`
                : t`There is no project yet`
            }
          />
        }
      />
      {list.data && (
        <ListFoot
          count={projects.length}
          counted={<Plural value={projects.length} one="# project" other="# projects" />}
          more={list.hasNextPage}
          loading={list.isFetchingNextPage}
          presorted
          onMore={more}
        />
      )}
      <Suspense fallback={null}>
        <ProjectFormDrawer opened={search.make !== undefined} onClose={() => change({ make: undefined })} />
        {edited && (
          <ProjectFormDrawer
            opened={search.edit !== undefined}
            id={edited}
            onClose={() => change({ edit: undefined })}
          />
        )}
        {shown && (
          <ProjectDrawer
            opened={search.open !== undefined}
            id={shown}
            acts={acts}
            onEdit={edit}
            onClose={() => change({ open: undefined })}
          />
        )}
      </Suspense>
    </div>
  );
}
