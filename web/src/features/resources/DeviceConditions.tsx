import { Trans, useLingui } from "@lingui/react/macro";
import { Stack, Table, Text, Title } from "@mantine/core";
import type { NodeDetail } from "@/api/types";
import { formatSize } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import { StateBadge } from "@/ui/StateBadge";

type Device = NodeDetail["devices"][number];

/** The condition of accelerators, and what was measured of them in the last minute; without a value: not known. */
export function DeviceConditions({ devices }: { devices: Device[] }) {
  const { t } = useLingui();
  const measured = devices.some(({ metrics }) => metrics.measured_at !== null);
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        <Trans>Condition of accelerators</Trans>
      </Title>
      <Table.ScrollContainer
        minWidth={measured ? 560 : 300}
        scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
      >
        <Table aria-label={t`Condition of accelerators`} fz="sm" verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t({ context: "accelerator", message: "Device" })}</Table.Th>
              <Table.Th>{t`Condition`}</Table.Th>
              {measured && (
                <>
                  <Table.Th>{t`Utilization`}</Table.Th>
                  <Table.Th>{t`Memory`}</Table.Th>
                  <Table.Th>{t`Temperature`}</Table.Th>
                  <Table.Th>{t`Power`}</Table.Th>
                  <Table.Th>{t`Memory errors`}</Table.Th>
                </>
              )}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {devices.map((device) => (
              <Table.Tr key={device.id}>
                <Table.Th scope="row">{device.id}</Table.Th>
                <Table.Td>
                  <Condition device={device} />
                </Table.Td>
                {measured && <Measured {...device.metrics} />}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </section>
  );
}

function Condition({ device: { healthy, problem, metrics } }: { device: Device }) {
  const { t } = useLingui();
  const { measured_at: at, ...values } = metrics;
  const stale = at !== null && Object.values(values).every((value) => value === null);
  return (
    <Stack gap={2} align="flex-start">
      <StateBadge look={healthy ? "ok" : "down"} state={healthy ? "healthy" : "unhealthy"}>
        {healthy ? t`Healthy` : t`Out of order`}
      </StateBadge>
      {problem && <Text size="xs">{problem}</Text>}
      {stale && (
        <Text size="xs" c="dimmed">
          <Trans>
            Last measured <Instant at={at} />
          </Trans>
        </Text>
      )}
    </Stack>
  );
}

const NONE = "–";

function Measured(metrics: Device["metrics"]) {
  const { t } = useLingui();
  const { utilization_percent: percent, mem_used_bytes: used, mem_total_bytes: size } = metrics;
  const { temperature_c: celsius, power_w: watts, uncorrected_errors: errors } = metrics;
  const rounded = (value: number | null, unit: string) =>
    value === null ? NONE : `${Math.round(value)}${unit}`;
  const [inUse, whole] = [formatSize(used ?? 0), formatSize(size ?? 0)];
  return (
    <>
      <Table.Td>{rounded(percent, "%")}</Table.Td>
      <Table.Td>{used === null ? NONE : size === null ? inUse : t`${inUse} of ${whole}`}</Table.Td>
      <Table.Td>{rounded(celsius, " °C")}</Table.Td>
      <Table.Td>{rounded(watts, " W")}</Table.Td>
      <Table.Td>{errors ?? NONE}</Table.Td>
    </>
  );
}
