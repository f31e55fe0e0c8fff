import { Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { NodeDetail } from "@/api/types";
import { formatSize } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import { StateBadge } from "@/ui/StateBadge";
import styles from "./DeviceMap.module.css";

type Device = NodeDetail["devices"][number];

/** Why an accelerator is out of order, and what was measured of it in the last minute; without a value: not known. */
export function DeviceCondition({ device }: { device: Device }) {
  const { t } = useLingui();
  const { healthy, problem } = device;
  const { measured_at: at, ...values } = device.metrics;
  const measured = useMeasured(values);
  return (
    <>
      {!healthy && (
        <StateBadge look="down" state="unhealthy">
          {t`Out of order`}
        </StateBadge>
      )}
      {problem && <Text size="xs">{problem}</Text>}
      {measured.length > 0 && (
        <dl className={styles.measured} aria-label={t`Measurements`}>
          {measured.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {at !== null && measured.length === 0 && (
        <p className={styles.faint}>
          <Trans>
            Last measured <Instant at={at} />
          </Trans>
        </p>
      )}
    </>
  );
}

function useMeasured(values: Omit<Device["metrics"], "measured_at">): [string, string][] {
  const { t } = useLingui();
  const { utilization_percent: percent, mem_used_bytes: used, mem_total_bytes: size } = values;
  const { temperature_c: celsius, power_w: watts, uncorrected_errors: errors } = values;
  const rounded = (value: number | null, unit: string) =>
    value === null ? null : `${Math.round(value)}${unit}`;
  const [inUse, whole] = [formatSize(used ?? 0), formatSize(size ?? 0)];
  const rows: [string, string | null][] = [
    [t`Utilization`, rounded(percent, "%")],
    [t`Memory`, used === null ? null : size === null ? inUse : t`${inUse} of ${whole}`],
    [t`Temperature`, rounded(celsius, " °C")],
    [t`Power`, rounded(watts, " W")],
    [t`Memory errors`, errors === null ? null : `${errors}`],
  ];
  return rows.filter((row): row is [string, string] => row[1] !== null);
}
