import { Trans } from "@lingui/react/macro";
import { Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { PageTitle } from "@/ui/PageTitle";
import { ProblemAlert } from "@/ui/ProblemAlert";
import list from "@/ui/table/list.module.css";
import { MaintenanceTabs } from "./MaintenanceTabs";

interface Props<T> {
  title: string;
  text: ReactNode;
  query: UseQueryResult<T>;
  actions?: ReactNode;
  /** Leaves out the button: events keep the page up to date. */
  live?: boolean;
  children: (data: T) => ReactNode;
}

/** A maintenance page: what a query returned, and usually a button that repeats it. */
export function MaintenanceFrame<T>({ title, text, query, actions, live, children }: Props<T>) {
  return (
    <div className={list.page}>
      <MaintenanceTabs />
      <Stack id="maintenance" p="md" gap="md" flex={1} mih={0} style={{ overflow: "auto" }}>
        <Group justify="space-between" align="flex-start">
          <div>
            <PageTitle>{title}</PageTitle>
            <Text size="sm" c="dimmed" maw={640}>
              {text}
            </Text>
          </div>
          <Group gap="xs">
            {actions}
            {!live && (
              <Button
                size="xs"
                variant="default"
                leftSection={<IconRefresh size={16} aria-hidden />}
                loading={query.isFetching}
                onClick={() => void query.refetch()}
              >
                <Trans>Run again</Trans>
              </Button>
            )}
          </Group>
        </Group>
        {query.isPending && [1, 2, 3].map((key) => <Skeleton key={key} height={48} aria-busy />)}
        {query.isError && <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />}
        {query.data !== undefined && children(query.data)}
      </Stack>
    </div>
  );
}
