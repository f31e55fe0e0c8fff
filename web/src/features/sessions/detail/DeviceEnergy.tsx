import { Trans, useLingui } from "@lingui/react/macro";
import { Table, Text, Title } from "@mantine/core";
import type { SessionUsageView } from "@/api/generated/types.gen";
import { writing } from "@/ui/format";

/** What each accelerator has drawn since the session started. */
export function DeviceEnergy({ energy }: { energy: SessionUsageView["energy"] }) {
  const { t, i18n } = useLingui();
  const { format } = new Intl.NumberFormat(writing(i18n.locale), { maximumFractionDigits: 3 });
  const kwh = energy.reduce((sum, one) => sum + one.energy_kwh, 0);
  return (
    <section aria-label={t`Energy`}>
      <Title order={3} size="h6">
        {t`Energy`}
      </Title>
      {energy.length === 0 ? (
        <Text size="sm" c="dimmed">{t`Not measured`}</Text>
      ) : (
        <>
          <Text size="sm">
            <Trans>{format(kwh)} kWh since the session started, while power was measured</Trans>
          </Text>
          <Table.ScrollContainer minWidth={420} type="native" scrollAreaProps={{ tabIndex: 0 }}>
            <Table fz="sm" verticalSpacing={4} aria-label={t`Energy of devices`}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{t`Device`}</Table.Th>
                  <Table.Th>{t`Energy`}</Table.Th>
                  <Table.Th>{t`Device-hours measured`}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {energy.map((one) => (
                  <Table.Tr key={one.device}>
                    <Table.Th scope="row">
                      {one.model || one.device}
                      {one.model && (
                        <Text size="xs" c="dimmed">
                          {one.device}
                        </Text>
                      )}
                    </Table.Th>
                    <Table.Td>{format(one.energy_kwh)} kWh</Table.Td>
                    <Table.Td>{format(one.power_hours)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        </>
      )}
    </section>
  );
}
