import { Trans, useLingui } from "@lingui/react/macro";
import { Table, TextInput, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { informationQuery } from "@/queries/maintenance";
import { Facts } from "@/ui/Facts";
import { formatSize } from "@/ui/format";
import { usePageTitle } from "@/ui/use-page-title";
import { MaintenanceFrame } from "./MaintenanceFrame";

/** Versions and limits of the installation, and the licences of all that it contains. */
export function InformationPage() {
  const { t } = useLingui();
  const information = useQuery(informationQuery);
  const [search, setSearch] = useState("");
  usePageTitle(t`Information`);
  const limits: Record<string, string> = {
    connections_per_address: t`Connections of a client address`,
    app_ports: t`Ports of apps`,
  };
  const parts: Record<string, string> = { server: t`server`, page: t`page` };
  return (
    <MaintenanceFrame
      title={t`Information`}
      text={
        <Trans>Versions and limits of this installation, and the licences of all that it contains.</Trans>
      }
      query={information}
    >
      {(facts) => {
        const text = search.trim().toLowerCase();
        const packages = facts.packages.filter(
          (one) => one.name.toLowerCase().includes(text) || one.licence.toLowerCase().includes(text),
        );
        return (
          <>
            <Facts
              facts={[
                [t`Version`, facts.version],
                [t`Licence`, facts.licence],
                [t`Database`, `${facts.database}, ${formatSize(facts.database_bytes)}`],
                [t`Database schema`, facts.schema_revision],
                ["Python", facts.python],
                [t`System`, facts.system],
                [t`Data directory`, facts.data_dir],
                ...facts.limits.map(
                  ({ name, value, setting }) =>
                    [limits[name] ?? name, setting ? `${value} (${setting})` : value] as const,
                ),
              ]}
            />
            <Title order={2} size="h5">
              <Trans>Packages and licences</Trans>
            </Title>
            <TextInput
              size="xs"
              maw={320}
              aria-label={t`Search packages`}
              placeholder={t`Search packages`}
              value={search}
              onChange={(event) => setSearch(event.currentTarget.value)}
            />
            <Table.ScrollContainer minWidth={420} type="native" tabIndex={0}>
              <Table aria-label={t`Packages and licences`}>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{t`Package`}</Table.Th>
                    <Table.Th>{t`Version`}</Table.Th>
                    <Table.Th>{t`Licence`}</Table.Th>
                    <Table.Th>{t`Part`}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {packages.map((one) => (
                    <Table.Tr key={`${one.part}/${one.name}/${one.version}`}>
                      <Table.Td>{one.name}</Table.Td>
                      <Table.Td>{one.version}</Table.Td>
                      <Table.Td>{one.licence || "–"}</Table.Td>
                      <Table.Td>{parts[one.part] ?? one.part}</Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          </>
        );
      }}
    </MaintenanceFrame>
  );
}
