import { Plural, useLingui } from "@lingui/react/macro";
import { Group, Select } from "@mantine/core";
import { IconPlayerPlay, IconTrash } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback, useDeferredValue, useState } from "react";
import type { Environment } from "@/api/types";
import { mayBeyondOwn } from "@/me/may";
import { useMe } from "@/me/use-me";
import { type EnvironmentFilter, environmentsListQuery, everyEnvironment } from "@/queries/environments";
import { part } from "@/routing/part";
import { useAddress } from "@/routing/use-address";
import { LazyDrawer } from "@/ui/LazyDrawer";
import { ListPage } from "@/ui/table/ListPage";
import { RowTool } from "@/ui/table/RowTool";
import { useRows } from "@/ui/table/use-rows";
import { ENVIRONMENT_COLUMNS, ENVIRONMENT_FIELDS } from "./environment-columns";
import { QuotaBars } from "./QuotaBars";
import { useRemovals } from "./use-removals";

const BuildDialog = part(() => import("./BuildDialog").then((m) => m.BuildDialog));
const EnvironmentDrawer = part(() => import("./EnvironmentDrawer").then((m) => m.EnvironmentDrawer));

const route = getRouteApi("/shell/my-environments");
const idOf = (environment: Environment) => environment.id;
const look = (environment: Environment) => ({ name: environment.name });
const SORTED = ["name", "created_at", "updated_at"];

/** The environments from which the user may start sessions, or that they see. */
export function EnvironmentsPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const change = useAddress<typeof search>();
  const navigate = useNavigate();
  const me = useMe();
  const removals = useRemovals();
  const [building, setBuilding] = useState(false);
  const sort = SORTED.find((key) => key === search.sort) ?? "name";
  const filter: EnvironmentFilter = {
    owner: search.owner ?? "usable",
    q: useDeferredValue(search.q),
    sort: search.order === "desc" ? `-${sort}` : sort,
  };
  const list = useInfiniteQuery(environmentsListQuery(filter));
  const { rows, more } = useRows(list);
  const open = useCallback((environment: Environment) => change({ open: environment.id }), [change]);
  const notYours = t`Only its owner and administrators can delete it.`;
  const notReady = t`It has no version that is ready.`;
  const notShared = t`It is not shared with you.`;
  const tools = useCallback(
    (environment: Environment) => (
      <Group gap={0} wrap="nowrap" justify="flex-end">
        <RowTool
          label={t`Start a session`}
          row={environment.name}
          icon={IconPlayerPlay}
          refusal={environment.may_start ? (environment.default_version ? null : notReady) : notShared}
          onClick={() =>
            void navigate({
              to: "/sessions",
              search: { launch: "new", with: { image: environment.image } },
            })
          }
        />
        <RowTool
          label={t`Delete`}
          row={environment.name}
          icon={IconTrash}
          color="red"
          refusal={environment.may_change ? null : notYours}
          onClick={() => removals.environment(environment)}
        />
      </Group>
    ),
    [t, navigate, removals, notYours, notReady, notShared],
  );

  return (
    <ListPage
      title={t`My environments`}
      name="environments"
      search={search}
      onChange={change}
      list={list}
      rows={rows}
      rowId={idOf}
      columns={ENVIRONMENT_COLUMNS}
      look={look}
      onOpen={open}
      tools={tools}
      toolsWidth="5rem"
      minWidth="72rem"
      onMore={more}
      file={{ name: "environments", fields: ENVIRONMENT_FIELDS, all: () => everyEnvironment(filter) }}
      searched={{ label: t`Search by name or description`, placeholder: t`Name or description` }}
      filters={
        <Select
          size="xs"
          w={220}
          aria-label={t`Which environments`}
          allowDeselect={false}
          data={[
            { value: "usable", label: t`All that you can start from` },
            { value: "me", label: t`Yours` },
            ...(mayBeyondOwn(me, "environment.update") ? [{ value: "all", label: t`All` }] : []),
          ]}
          value={search.owner ?? "usable"}
          onChange={(owner) => change({ owner: owner === "me" || owner === "all" ? owner : undefined })}
        />
      }
      make={{ label: t`Build`, refusal: null, onClick: () => setBuilding(true) }}
      counted={<Plural value={rows.length} one="# environment" other="# environments" />}
      empty={
        search.q || search.owner
          ? { title: t`No environments match the filter` }
          : {
              title: t`No environments yet`,
              text: t`An environment is an image of your own. Build one from a list of packages or a Dockerfile, or install what you need in a running session and choose “Save as environment” in its details.`,
            }
      }
    >
      <QuotaBars />
      <BuildDialog
        opened={building}
        onClose={() => setBuilding(false)}
        onBuilt={(id) => change({ open: id })}
      />
      <LazyDrawer value={search.open}>
        {(id, opened) => (
          <EnvironmentDrawer id={id} opened={opened} onClose={() => change({ open: undefined })} />
        )}
      </LazyDrawer>
    </ListPage>
  );
}
