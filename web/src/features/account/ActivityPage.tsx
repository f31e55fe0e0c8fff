import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { SegmentedControl, Select, Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useRef } from "react";
import type { AuditEntry } from "@/api/types";
import { useMe } from "@/me/use-me";
import { auditListQuery } from "@/queries/audit";
import { type ActivitySpan, beginOf, SPANS } from "@/routing/activity-span";
import { useAddress } from "@/routing/use-address";
import { useSpanNames } from "@/routing/use-span-names";
import { useKindText } from "@/sentences/kinds";
import { CommandLine } from "@/ui/CommandLine";
import { EmptyState } from "@/ui/EmptyState";
import { DataTable } from "@/ui/table/DataTable";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import styles from "@/ui/table/list.module.css";
import { SearchBox } from "@/ui/table/SearchBox";
import { usePageKeys } from "@/ui/table/use-page-keys";
import { usePageTitle } from "@/ui/use-page-title";
import { ACTIVITY_COLUMNS } from "./activity-columns";
import { activityCommand } from "./activity-command";
import { kindsFor } from "./scopes";

const route = getRouteApi("/shell/settings/activity");
const idOf = (entry: AuditEntry) => String(entry.id);

/** The audit entries by the user and about the user's resources. */
export function ActivityPage() {
  const { t } = useLingui();
  const me = useMe();
  const kindText = useKindText();
  const search = route.useSearch();
  const searchBox = useRef<HTMLInputElement>(null);
  const from = useMemo(() => beginOf(search.span, new Date()), [search.span]);
  const activity = useInfiniteQuery(
    auditListQuery({
      owner: "me",
      from,
      outcome: search.outcome,
      action: search.kind && `${search.kind}.*`,
      q: search.q,
    }),
  );
  usePageTitle(t`My activity`);
  usePageKeys({ onSearch: () => searchBox.current?.focus() });
  const change = useAddress<typeof search>();
  const rows = useMemo(() => (activity.data?.pages ?? []).flatMap((page) => page.items), [activity.data]);
  const spans = useSpanNames();
  const kinds = useMemo(
    () => kindsFor(me.actions).map(({ kind }) => ({ value: kind, label: kindText(kind) })),
    [me.actions, kindText],
  );
  return (
    <div className={styles.page}>
      <ListToolbar title={t`My activity`}>
        <SearchBox
          ref={searchBox}
          label={t`Search by name or e-mail`}
          placeholder={t`Name or e-mail`}
          value={search.q}
          onChange={(q) => change({ q }, true)}
        />
        <Select
          size="xs"
          w={150}
          aria-label={t`Object`}
          placeholder={t`Any object`}
          clearable
          clearButtonProps={{ "aria-label": t`Any object` }}
          searchable
          data={kinds}
          value={search.kind ?? null}
          onChange={(kind) => change({ kind: kind ?? undefined })}
        />
        <SegmentedControl
          size="xs"
          aria-label={t`Outcome`}
          data={[
            { value: "", label: t`All` },
            { value: "done", label: t`Done` },
            { value: "refused", label: t`Refused` },
          ]}
          value={search.outcome ?? ""}
          onChange={(outcome) =>
            change({ outcome: outcome === "done" || outcome === "refused" ? outcome : undefined })
          }
        />
        <Select
          size="xs"
          w={130}
          aria-label={t`Time range`}
          allowDeselect={false}
          data={SPANS.map((value) => ({ value, label: spans[value] }))}
          value={search.span ?? "all"}
          onChange={(span) => change({ span: span === "all" ? undefined : (span as ActivitySpan) })}
        />
      </ListToolbar>
      <Stack px="md" pb="sm" gap="xs" maw={720}>
        <Text size="sm" c="dimmed">
          <Trans>
            Your actions, and the actions of others on what you own. Entries cannot be changed or deleted.
          </Trans>
        </Text>
        <CommandLine text={activityCommand(search, from)} />
      </Stack>
      <DataTable
        label={t`My activity`}
        rows={rows}
        rowId={idOf}
        columns={ACTIVITY_COLUMNS}
        loading={activity.isPending}
        problem={activity.error}
        onRetry={() => void activity.refetch()}
        look={(entry) => ({ name: entry.action, ended: entry.outcome === "refused" })}
        onNearEnd={() => {
          if (activity.hasNextPage && !activity.isFetching) void activity.fetchNextPage();
        }}
        minWidth="62rem"
        empty={<EmptyState title={t`No activity matches the filter`} />}
      />
      {activity.data && (
        <ListFoot
          count={rows.length}
          counted={<Plural value={rows.length} one="# entry" other="# entries" />}
          more={activity.hasNextPage}
          loading={activity.isFetchingNextPage}
          onMore={() => void activity.fetchNextPage()}
        />
      )}
    </div>
  );
}
