import { Plural, useLingui } from "@lingui/react/macro";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback } from "react";
import type { Engine } from "@/api/types";
import { enginesListQuery, useCheckEngine } from "@/queries/engines";
import { useAddress } from "@/routing/use-address";
import { EmptyState } from "@/ui/EmptyState";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { MainButton } from "@/ui/MainButton";
import { DataTable } from "@/ui/table/DataTable";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { useLast } from "@/ui/use-last";
import { usePageTitle } from "@/ui/use-page-title";
import { useReturnFocus } from "@/ui/use-return-focus";
import { EngineDrawer } from "./EngineDrawer";
import { EngineForm } from "./EngineForm";
import { ENGINE_COLUMNS } from "./engine-columns";
import { ResourceTabs } from "./ResourceTabs";

const route = getRouteApi("/shell/resources/engines");
const idOf = (engine: Engine) => engine.id;
const look = (engine: Engine) => ({ name: engine.name, ended: engine.state === "DOWN" });

/** The engines and their states. */
export function EnginesPage() {
  const { t } = useLingui();
  const search = route.useSearch();
  const engines = useQuery(enginesListQuery);
  const shown = useLast(engines.data?.find(({ id }) => id === search.open));
  const edited = useLast(engines.data?.find(({ id }) => id === search.edit));
  usePageTitle(t`Engines`);
  useReturnFocus([search.open, search.edit, search.make].some((one) => one !== undefined));
  const change = useAddress<typeof search>();
  const open = useCallback((engine: Engine) => change({ open: engine.id }), [change]);
  const check = useCheckEngine();
  const closeForm = (saved?: Engine) =>
    change({ make: undefined, edit: undefined, open: saved?.id ?? search.open });
  const closeNew = (added?: Engine) => {
    if (added) check.mutate(added.id);
    closeForm(added);
  };
  const closable = { closeButtonProps: { "aria-label": t`Close` } };
  return (
    <div className={styles.page}>
      <ResourceTabs />
      <ListToolbar
        title={t`Engines`}
        action={<MainButton icon={IconPlus} label={t`New engine`} onClick={() => change({ make: "one" })} />}
      />
      <DataTable
        label={t`Engines`}
        rows={engines.data ?? []}
        rowId={idOf}
        columns={ENGINE_COLUMNS}
        loading={engines.isPending}
        problem={engines.error}
        onRetry={() => void engines.refetch()}
        sorting={search}
        onSort={change}
        look={look}
        opened={search.open}
        onOpen={open}
        minWidth="52rem"
        empty={
          <EmptyState
            title={t`No engines yet`}
            text={t`Sessions run on the nodes of an engine. Add an engine to start.`}
          />
        }
      />
      {engines.data && (
        <ListFoot
          count={engines.data.length}
          counted={<Plural value={engines.data.length} one="# engine" other="# engines" />}
        />
      )}
      <FormDrawer
        opened={search.make !== undefined}
        onClose={closeNew}
        size="lg"
        title={t`New engine`}
        {...closable}
      >
        <EngineForm engine={undefined} onDone={closeNew} />
      </FormDrawer>
      {edited && (
        <FormDrawer
          opened={search.edit !== undefined}
          onClose={closeForm}
          size="lg"
          title={t`Edit ${edited.name}`}
          {...closable}
        >
          <EngineForm key={edited.id} engine={edited} onDone={closeForm} />
        </FormDrawer>
      )}
      {shown && (
        <EngineDrawer
          opened={search.open !== undefined}
          engine={shown}
          check={check}
          onEdit={() => change({ edit: shown.id })}
          onClose={() => change({ open: undefined })}
        />
      )}
    </div>
  );
}
