import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Group, Skeleton, Stack, Table, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Session } from "@/api/types";
import type { SessionFilter } from "@/cache/patch";
import { Duration } from "@/features/sessions/Age";
import { arrayName } from "@/features/sessions/arrays";
import { RowTools } from "@/features/sessions/RowTools";
import { SessionBadge } from "@/features/sessions/SessionBadge";
import type { SessionActions } from "@/features/sessions/use-actions";
import { WhyCell } from "@/features/sessions/WhyCell";
import { sessionsListQuery } from "@/queries/sessions";
import { overSessions } from "@/routing/search";
import { MoreButton } from "@/ui/MoreButton";
import { ProblemAlert } from "@/ui/ProblemAlert";

interface Props {
  array: NonNullable<Session["array"]>;
  filter: SessionFilter;
  actions: SessionActions;
}

/** Which sessions of an array are shown: those in the state that is filtered by, and that a search by index means. */
export const membersFilter = (id: string, { state, q }: SessionFilter): SessionFilter => ({
  array: id,
  owner: "all",
  state: state === "live" || state === "ended" ? "all" : state,
  q: /\d/.test(q) ? q : "",
});

/** The sessions of an array, page by page. */
export function ArrayMembers({ array, filter, actions }: Props) {
  const { t } = useLingui();
  const list = useInfiniteQuery(sessionsListQuery(membersFilter(array.id, filter)));
  if (list.isPending) return <Skeleton height={120} aria-busy />;
  if (list.isError) return <ProblemAlert problem={list.error} onRetry={() => void list.refetch()} />;
  const members = list.data.pages.flatMap((page) => page.items);
  const total = array.last - array.first + 1;
  return (
    <Stack gap="xs">
      <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table aria-label={t`Sessions of ${arrayName(array)}`} fz="sm" verticalSpacing={2}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t`Name`}</Table.Th>
              <Table.Th>{t`State`}</Table.Th>
              <Table.Th>{t`Duration`}</Table.Th>
              <Table.Th>{t`Reason`}</Table.Th>
              <Table.Th aria-label={t`Actions`} />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {members.map((session) => (
              <Table.Tr key={session.id}>
                <Table.Th scope="row" style={{ whiteSpace: "nowrap" }}>
                  <Anchor
                    size="sm"
                    renderRoot={(props) => (
                      <Link
                        {...props}
                        to="/sessions"
                        search={(now) => overSessions(now, { session: session.id })}
                      />
                    )}
                  >
                    {session.name}
                  </Anchor>
                </Table.Th>
                <Table.Td>
                  <SessionBadge state={session.state} result={session.result} />
                </Table.Td>
                <Table.Td>
                  <Duration session={session} />
                </Table.Td>
                <Table.Td maw={360}>
                  <WhyCell session={session} />
                </Table.Td>
                <Table.Td>
                  <RowTools session={session} actions={actions} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Group gap="md">
        <MoreButton list={list} />
        <Text size="xs" c="dimmed" role="status">
          <Trans>
            {members.length} of {total} sessions
          </Trans>
        </Text>
        <Anchor
          size="xs"
          renderRoot={(props) => (
            <Link {...props} to="/sessions" search={{ array: array.id, state: "all", owner: filter.owner }} />
          )}
        >
          <Trans>Show as a list</Trans>
        </Anchor>
      </Group>
    </Stack>
  );
}
