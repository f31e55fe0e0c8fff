import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Group, Select } from "@mantine/core";
import { IconCopy, IconPencil, IconTrash } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useDeferredValue } from "react";
import type { AppTemplate } from "@/api/types";
import { TemplateTabs } from "@/features/templates/TemplateTabs";
import {
  type AppTemplateFilter,
  appTemplatesListQuery,
  everyAppTemplate,
  useRemoveAppTemplate,
} from "@/queries/app-templates";
import { part } from "@/routing/part";
import { useAddress } from "@/routing/use-address";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { LazyDrawer } from "@/ui/LazyDrawer";
import { ListPage } from "@/ui/table/ListPage";
import { RowTool } from "@/ui/table/RowTool";
import { useRows } from "@/ui/table/use-rows";
import { APP_COLUMNS, APP_FIELDS } from "./app-columns";

const AppDrawer = part(() => import("./AppDrawer").then((m) => m.AppDrawer));

const route = getRouteApi("/shell/templates/apps");
const idOf = (template: AppTemplate) => template.id;
const look = (template: AppTemplate) => ({ name: template.title });

/** The catalogue of apps: built in, of the installation, of projects, and the user's own. */
export function AppCataloguePage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const change = useAddress<typeof search>();
  const { mutateAsync: remove } = useRemoveAppTemplate();
  const sort = search.sort === "name" ? "name" : "title";
  const filter: AppTemplateFilter = {
    scope: search.scope,
    q: useDeferredValue(search.q),
    sort: search.order === "desc" ? `-${sort}` : sort,
  };
  const list = useInfiniteQuery(appTemplatesListQuery(filter));
  const { rows, more } = useRows(list);
  const open = useCallback((template: AppTemplate) => change({ form: template.id }), [change]);
  const notYours = t`Only those whose it is can change it. Copy it to replace it in your sessions.`;
  const tools = useCallback(
    (template: AppTemplate) => (
      <Group gap={0} wrap="nowrap" justify="flex-end">
        <RowTool
          label={t`Copy`}
          row={template.title}
          icon={IconCopy}
          refusal={null}
          onClick={() => change({ form: `copy:${template.id}` })}
        />
        <RowTool
          label={t`Edit`}
          row={template.title}
          icon={IconPencil}
          refusal={template.may_change ? null : notYours}
          onClick={() => open(template)}
        />
        <RowTool
          label={t`Delete`}
          row={template.title}
          icon={IconTrash}
          color="red"
          refusal={template.may_change ? null : notYours}
          onClick={() =>
            askToConfirm({
              title: t`Delete app template`,
              closeLabel: t`Close`,
              confirm: t`Delete`,
              command: commandLine("carrel", "app-template", "rm", template.id),
              onConfirm: () => remove(template.id),
              children: (
                <Trans>
                  Deletes <b>{template.title}</b>. Apps that were started from it keep running.
                </Trans>
              ),
            })
          }
        />
      </Group>
    ),
    [t, open, change, remove, notYours],
  );
  const scopes = [
    { value: "", label: t`All` },
    { value: "person", label: t`Yours` },
    { value: "project", label: t`Projects` },
    { value: "installation", label: t`Installation` },
    { value: "builtin", label: t`Built in` },
  ] as const;

  return (
    <ListPage
      title={t`App catalogue`}
      name="app-templates"
      tabs={<TemplateTabs />}
      search={search}
      onChange={change}
      list={list}
      rows={rows}
      rowId={idOf}
      columns={APP_COLUMNS}
      look={look}
      onOpen={open}
      tools={tools}
      toolsWidth="7.25rem"
      minWidth="58rem"
      onMore={more}
      file={{ name: "app-templates", fields: APP_FIELDS, all: () => everyAppTemplate(filter) }}
      make={{ label: t`New app`, refusal: null, onClick: () => change({ form: "new" }) }}
      searched={{ label: t`Search by name or title`, placeholder: t`Name or title` }}
      filters={
        <Select
          size="xs"
          w={160}
          aria-label={t`Which apps`}
          allowDeselect={false}
          data={scopes}
          value={search.scope ?? ""}
          onChange={(scope) =>
            change({ scope: scopes.find(({ value }) => value === scope && value !== "")?.value || undefined })
          }
        />
      }
      counted={<Plural value={rows.length} one="# app" other="# apps" />}
      empty={{ title: t`No apps match the filter` }}
    >
      <LazyDrawer value={search.form}>
        {(id, opened) => <AppDrawer id={id} opened={opened} onClose={() => change({ form: undefined })} />}
      </LazyDrawer>
    </ListPage>
  );
}
