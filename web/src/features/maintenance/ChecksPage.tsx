import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Switch, Table, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { checksQuery } from "@/queries/maintenance";
import { EmptyState } from "@/ui/EmptyState";
import { StateBadge } from "@/ui/StateBadge";
import { usePageTitle } from "@/ui/use-page-title";
import { MaintenanceFrame } from "./MaintenanceFrame";
import { CHECKS, REMEDIES } from "./words";

/** Checks of the installation, with what to do where one is not passed. */
export function ChecksPage() {
  const { t, i18n } = useLingui();
  const checks = useQuery(checksQuery);
  const [onlyFailed, setOnlyFailed] = useState(false);
  usePageTitle(t`Checks`);
  const words = { ok: t`passed`, warning: t`warning`, failed: t`failed` };
  return (
    <MaintenanceFrame
      title={t`Checks`}
      text={<Trans>What could keep this installation from working, checked when this page is opened.</Trans>}
      query={checks}
      actions={
        <Button
          size="xs"
          variant="default"
          component="a"
          href="/api/v1/maintenance/bundle"
          download
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          <Trans>Support bundle</Trans>
        </Button>
      }
    >
      {(all) => {
        const items = all.filter((one) => !onlyFailed || one.state !== "ok");
        return (
          <>
            <Switch
              size="sm"
              label={t`Only what is not passed`}
              checked={onlyFailed}
              onChange={(event) => setOnlyFailed(event.currentTarget.checked)}
            />
            {items.length === 0 ? (
              <EmptyState title={t`All checks passed`} />
            ) : (
              <Table.ScrollContainer minWidth={520} type="native" tabIndex={0}>
                <Table verticalSpacing="sm" aria-label={t`Checks`}>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>{t`Check`}</Table.Th>
                      <Table.Th>{t`State`}</Table.Th>
                      <Table.Th>{t`Details`}</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {items.map((one) => {
                      const [title, remedy] = [CHECKS[one.name], REMEDIES[one.name]];
                      return (
                        <Table.Tr key={`${one.name}/${one.subject}`}>
                          <Table.Td>
                            <Text size="sm">{title ? i18n._(title) : one.name}</Text>
                            {one.subject && (
                              <Text size="xs" c="dimmed">
                                {one.subject}
                              </Text>
                            )}
                          </Table.Td>
                          <Table.Td>
                            <StateBadge look={one.state} state={one.state}>
                              {words[one.state]}
                            </StateBadge>
                          </Table.Td>
                          <Table.Td>
                            {one.state !== "ok" && (
                              <Text size="sm">{remedy ? i18n._(remedy) : one.remedy}</Text>
                            )}
                            {one.detail && (
                              <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
                                {one.detail}
                              </Text>
                            )}
                          </Table.Td>
                        </Table.Tr>
                      );
                    })}
                  </Table.Tbody>
                </Table>
              </Table.ScrollContainer>
            )}
          </>
        );
      }}
    </MaintenanceFrame>
  );
}
