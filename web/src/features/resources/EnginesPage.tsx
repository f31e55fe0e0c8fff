import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Alert, Drawer, Group, Stack, Text } from "@mantine/core";
import { IconPencil, IconPlugConnected, IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback } from "react";
import type { Engine } from "@/api/types";
import { enginesListQuery, useCheckEngine, useRemoveEngine } from "@/queries/engines";
import { useAddress } from "@/routing/use-address";
import { commandLine } from "@/ui/command";
import { EmptyState } from "@/ui/EmptyState";
import { Facts } from "@/ui/Facts";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { Instant } from "@/ui/Instant";
import { MainButton } from "@/ui/MainButton";
import { DataTable } from "@/ui/table/DataTable";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { useLast } from "@/ui/use-last";
import { usePageTitle } from "@/ui/use-page-title";
import { useReturnFocus } from "@/ui/use-return-focus";
import { EngineForm } from "./EngineForm";
import { ENGINE_COLUMNS, EngineBadge } from "./engine-columns";
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
  const closeForm = (saved?: Engine) =>
    change({ make: undefined, edit: undefined, open: saved?.id ?? search.open });
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
      <Drawer
        opened={search.make !== undefined}
        onClose={closeForm}
        size="lg"
        title={t`New engine`}
        {...closable}
      >
        <EngineForm engine={undefined} onDone={closeForm} />
      </Drawer>
      {edited && (
        <Drawer
          opened={search.edit !== undefined}
          onClose={closeForm}
          size="lg"
          title={t`Edit ${edited.name}`}
          {...closable}
        >
          <EngineForm key={edited.id} engine={edited} onDone={closeForm} />
        </Drawer>
      )}
      {shown && (
        <Drawer
          opened={search.open !== undefined && search.edit === undefined}
          onClose={() => change({ open: undefined })}
          size="lg"
          title={shown.name}
          {...closable}
        >
          <OneEngine
            key={shown.id}
            engine={shown}
            onEdit={() => change({ edit: shown.id })}
            onRemoved={() => change({ open: undefined })}
          />
        </Drawer>
      )}
    </div>
  );
}

interface OneProps {
  engine: Engine;
  onEdit: () => void;
  onRemoved: () => void;
}

function OneEngine({ engine, onEdit, onRemoved }: OneProps) {
  const { t } = useLingui();
  const check = useCheckEngine();
  const { mutateAsync: remove } = useRemoveEngine();
  const askRemove = () =>
    askToConfirm({
      title: t`Remove engine`,
      closeLabel: t`Close`,
      confirm: t`Remove`,
      typedName: engine.name,
      command: commandLine("carrel", "engine", "rm", engine.name),
      onConfirm: async () => {
        await remove(engine.id);
        onRemoved();
      },
      children: (
        <Text size="sm">
          <Trans>Removes the engine and its nodes. An engine with containers cannot be removed.</Trans>
        </Text>
      ),
    });
  return (
    <Stack gap="lg">
      <Group gap="xs">
        <MainButton variant="default" icon={IconPencil} label={t`Edit`} onClick={onEdit} />
        <MainButton
          variant="default"
          icon={IconPlugConnected}
          label={t`Check`}
          loading={check.isPending}
          onClick={() => check.mutate(engine.id)}
        />
        {!engine.local && (
          <MainButton variant="light" color="red" icon={IconTrash} label={t`Remove…`} onClick={askRemove} />
        )}
      </Group>
      {check.data && (
        <Alert color={check.data.ok ? "green" : "red"} variant="light" role="status">
          {check.data.sentence} {check.data.nodes.join(", ")}
        </Alert>
      )}
      <Facts
        facts={[
          [t`State`, <EngineBadge key="state" state={engine.state} />],
          [t`Since`, <Instant key="since" at={engine.state_since} />],
          [t`Last error`, engine.last_error ?? "–"],
          [t`Kind`, engine.kind_title],
          ...Object.entries(engine.settings).map(([name, value]): [string, string] => [name, String(value)]),
          ...engine.secrets.map((name): [string, string] => [name, t`set`]),
          [t`Nodes`, String(engine.nodes)],
          [t`Containers`, String(engine.containers)],
        ]}
      />
    </Stack>
  );
}
