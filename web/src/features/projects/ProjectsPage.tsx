import { Plural, useLingui } from "@lingui/react/macro";
import { Select } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useDeferredValue } from "react";
import type { WholeProject } from "@/api/types";
import { useUsedColumns } from "@/features/resources/load-columns";
import { UsersTabs } from "@/features/users/UsersTabs";
import { mayBeyondOwn, useRefusal } from "@/me/may";
import { useMe } from "@/me/use-me";
import { domainsChoiceQuery } from "@/queries/domains";
import { everyProject, type ProjectFilter, projectsListQuery } from "@/queries/projects";
import { part } from "@/routing/part";
import { useAddress } from "@/routing/use-address";
import { LazyDrawer } from "@/ui/LazyDrawer";
import { ListPage } from "@/ui/table/ListPage";
import { inUse, StateSwitch } from "@/ui/table/StateSwitch";
import { serverSort } from "@/ui/table/sorted";
import { useRows } from "@/ui/table/use-rows";
import { PROJECT_COLUMNS, PROJECT_FIELDS, projectLoads } from "./columns";
import { ProjectTools } from "./ProjectTools";
import { useProjectActs } from "./use-project-acts";

const ProjectDrawer = part(() => import("./ProjectDrawer").then((m) => m.ProjectDrawer));
const ProjectFormDrawer = part(() => import("./ProjectForm").then((m) => m.ProjectFormDrawer));

const route = getRouteApi("/shell/projects");
const idOf = (project: WholeProject) => project.id;
const look = (project: WholeProject) => ({ name: project.name, ended: project.archived_at !== null });

/** The projects that the user belongs to or administers. */
export function ProjectsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const change = useAddress<typeof search>();
  const me = useMe();
  const acts = useProjectActs();
  const refusal = useRefusal();
  const domains = useQuery({ ...domainsChoiceQuery, enabled: mayBeyondOwn(me, "domain.read") }).data ?? [];
  const used = inUse(search.state);
  const filter: ProjectFilter = {
    q: useDeferredValue(search.q),
    domain: search.domain,
    archived: used === undefined ? undefined : !used,
    sort: serverSort(PROJECT_COLUMNS, search),
  };
  const list = useInfiniteQuery(projectsListQuery(filter));
  const { rows, more } = useRows(list);
  const columns = useUsedColumns(PROJECT_COLUMNS, rows, projectLoads);
  const edit = useCallback((project: WholeProject) => change({ edit: project.id }), [change]);
  const filtered = search.q || search.domain || search.state;

  return (
    <ListPage
      title={t`Projects`}
      name="projects"
      tabs={<UsersTabs />}
      search={search}
      onChange={change}
      list={list}
      rows={rows}
      onMore={more}
      rowId={idOf}
      columns={columns}
      look={look}
      onOpen={useCallback((project: WholeProject) => change({ open: project.id }), [change])}
      tools={useCallback(
        (project: WholeProject) => <ProjectTools project={project} acts={acts} onEdit={edit} />,
        [acts, edit],
      )}
      toolsWidth="7.25rem"
      minWidth="72rem"
      file={{ name: "projects", fields: PROJECT_FIELDS, all: () => everyProject(filter) }}
      make={{
        label: t`New project`,
        refusal: refusal("project.create"),
        onClick: () => change({ make: "one" }),
      }}
      filters={
        <>
          <StateSwitch
            label={t`Project state`}
            on={t`In use`}
            off={t`Archived`}
            value={search.state}
            onChange={(state) => change({ state })}
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
        </>
      }
      counted={<Plural value={rows.length} one="# project" other="# projects" />}
      empty={{ title: filtered ? t`No projects match the filter` : t`No projects yet` }}
    >
      <LazyDrawer value={search.make}>
        {(_, opened) => <ProjectFormDrawer opened={opened} onClose={() => change({ make: undefined })} />}
      </LazyDrawer>
      <LazyDrawer value={search.edit}>
        {(id, opened) => (
          <ProjectFormDrawer opened={opened} id={id} onClose={() => change({ edit: undefined })} />
        )}
      </LazyDrawer>
      <LazyDrawer value={search.open}>
        {(id, opened) => (
          <ProjectDrawer
            opened={opened}
            id={id}
            tab={search.tab}
            acts={acts}
            onTab={(tab) => change({ tab }, true)}
            onEdit={edit}
            onClose={() => change({ open: undefined, tab: undefined })}
          />
        )}
      </LazyDrawer>
    </ListPage>
  );
}
