import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Group, Select } from "@mantine/core";
import { IconPencil, IconPlayerPlay, IconTrash } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useDeferredValue } from "react";
import type { Template } from "@/api/types";
import { mayBeyondOwn } from "@/me/may";
import { useMe } from "@/me/use-me";
import {
  everyTemplate,
  type TemplateFilter,
  templatesListQuery,
  useRemoveTemplate,
} from "@/queries/templates";
import { part } from "@/routing/part";
import { useAddress } from "@/routing/use-address";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { LazyDrawer } from "@/ui/LazyDrawer";
import { ListPage } from "@/ui/table/ListPage";
import { RowTool } from "@/ui/table/RowTool";
import { useRows } from "@/ui/table/use-rows";
import { TemplateTabs } from "./TemplateTabs";
import { TEMPLATE_COLUMNS, TEMPLATE_FIELDS } from "./template-columns";

const StartDrawer = part(() => import("./StartDrawer").then((m) => m.StartDrawer));
const TemplateDrawer = part(() => import("./TemplateDrawer").then((m) => m.TemplateDrawer));

const route = getRouteApi("/shell/templates");
const idOf = (template: Template) => template.id;
const look = (template: Template) => ({ name: template.name });
const SORTED = ["name", "created_at", "updated_at"];

/** The templates that the user may start, or see. */
export function TemplatesPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const change = useAddress<typeof search>();
  const me = useMe();
  const { mutateAsync: remove } = useRemoveTemplate();
  const sort = SORTED.find((key) => key === search.sort) ?? "name";
  const filter: TemplateFilter = {
    owner: search.owner ?? "usable",
    q: useDeferredValue(search.q),
    sort: search.order === "desc" ? `-${sort}` : sort,
  };
  const list = useInfiniteQuery(templatesListQuery(filter));
  const { rows, more } = useRows(list);
  const start = useCallback((template: Template) => change({ open: template.id }), [change]);
  const notYours = t`Only the owner of the template and project administrators can change it.`;
  const notMember = t`Only members of its project can start it.`;
  const tools = useCallback(
    (template: Template) => (
      <Group gap={0} wrap="nowrap" justify="flex-end">
        <RowTool
          label={t`Start`}
          row={template.name}
          icon={IconPlayerPlay}
          refusal={template.may_start ? null : notMember}
          onClick={() => start(template)}
        />
        <RowTool
          label={t`Edit`}
          row={template.name}
          icon={IconPencil}
          refusal={template.may_change ? null : notYours}
          onClick={() => change({ form: template.id })}
        />
        <RowTool
          label={t`Delete`}
          row={template.name}
          icon={IconTrash}
          color="red"
          refusal={template.may_change ? null : notYours}
          onClick={() =>
            askToConfirm({
              title: t`Delete template`,
              closeLabel: t`Close`,
              confirm: t`Delete`,
              command: commandLine("carrel", "template", "rm", template.id),
              onConfirm: () => remove(template.id),
              children: (
                <Trans>
                  Deletes <b>{template.name}</b>. Sessions that were started from it are unaffected.
                </Trans>
              ),
            })
          }
        />
      </Group>
    ),
    [t, start, change, remove, notYours, notMember],
  );
  const filtered = Boolean(search.q || search.owner);

  return (
    <ListPage
      title={t`Templates`}
      name="templates"
      tabs={<TemplateTabs />}
      search={search}
      onChange={change}
      list={list}
      rows={rows}
      rowId={idOf}
      columns={TEMPLATE_COLUMNS}
      look={look}
      onOpen={start}
      tools={tools}
      toolsWidth="7.25rem"
      minWidth="64rem"
      onMore={more}
      file={{ name: "templates", fields: TEMPLATE_FIELDS, all: () => everyTemplate(filter) }}
      make={{ label: t`New template`, refusal: null, onClick: () => change({ form: "new" }) }}
      searched={{ label: t`Search by name or description`, placeholder: t`Name or description` }}
      filters={
        <Select
          size="xs"
          w={200}
          aria-label={t`Which templates`}
          allowDeselect={false}
          data={[
            { value: "usable", label: t`Yours and your projects’` },
            { value: "me", label: t`Yours` },
            ...(mayBeyondOwn(me, "template.update") ? [{ value: "all", label: t`All` }] : []),
          ]}
          value={search.owner ?? "usable"}
          onChange={(owner) => change({ owner: owner === "me" || owner === "all" ? owner : undefined })}
        />
      }
      counted={<Plural value={rows.length} one="# template" other="# templates" />}
      empty={
        filtered
          ? { title: t`No templates match the filter` }
          : {
              title: t`No templates yet`,
              text: t`A template is a saved session definition with parameters. Save one from a session, from the launcher, or create one here, and share it with your project.`,
            }
      }
    >
      <LazyDrawer value={search.open}>
        {(id, opened) => (
          <StartDrawer id={id} opened={opened} onClose={() => change({ open: undefined })} onEdit={change} />
        )}
      </LazyDrawer>
      <LazyDrawer value={search.form}>
        {(id, opened) => (
          <TemplateDrawer id={id} opened={opened} onClose={() => change({ form: undefined })} />
        )}
      </LazyDrawer>
    </ListPage>
  );
}
