import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { consistencyQuery } from "@/queries/maintenance";
import { EmptyState } from "@/ui/EmptyState";
import { Facts } from "@/ui/Facts";
import { usePageTitle } from "@/ui/use-page-title";
import { MaintenanceFrame } from "./MaintenanceFrame";
import { DIFFERENCES } from "./words";

/** The ledger and the sessions, compared with the containers of each engine. */
export function ConsistencyPage() {
  const { t, i18n } = useLingui();
  const report = useQuery(consistencyQuery);
  usePageTitle(t`Consistency`);
  return (
    <MaintenanceFrame
      title={t`Consistency`}
      text={
        <Trans>
          Sessions and allocations, compared with the containers of each engine. Nothing is changed here:
          differences to an engine are repaired automatically, usually within seconds.
        </Trans>
      }
      query={report}
    >
      {({ containers, allocations, engines, differences }) => (
        <>
          <Facts
            facts={[
              [t`Containers on nodes`, i18n.number(containers)],
              [t`Allocations`, i18n.number(allocations)],
              ...engines.map(
                ({ name, containers: there, error }) =>
                  [
                    t`Engine ${name}`,
                    there === null
                      ? t`not compared: ${error}`
                      : t`${plural(there, { one: "# container", other: "# containers" })}`,
                  ] as const,
              ),
            ]}
          />
          {differences.length === 0 ? (
            <EmptyState title={t`No differences`} />
          ) : (
            <Table.ScrollContainer minWidth={520} type="native" tabIndex={0}>
              <Table verticalSpacing="sm" aria-label={t`Differences`}>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{t`Difference`}</Table.Th>
                    <Table.Th>{t`Where`}</Table.Th>
                    <Table.Th>{t`Details`}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {differences.map((one) => {
                    const kind = DIFFERENCES[one.kind];
                    return (
                      <Table.Tr key={`${one.kind}/${one.where}/${one.subject}/${one.detail}`}>
                        <Table.Td>{kind ? i18n._(kind) : one.kind}</Table.Td>
                        <Table.Td>{one.where || "–"}</Table.Td>
                        <Table.Td>
                          <Text size="sm">{one.subject}</Text>
                          <Text size="xs" c="dimmed">
                            {one.detail}
                          </Text>
                        </Table.Td>
                      </Table.Tr>
                    );
                  })}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )}
        </>
      )}
    </MaintenanceFrame>
  );
}
