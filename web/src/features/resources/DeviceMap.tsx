import { Trans, useLingui } from "@lingui/react/macro";
import { Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Device } from "@/api/types";
import { AccountName } from "@/ui/AccountName";
import { formatCores, formatSize } from "@/ui/format";
import { DeviceCondition } from "./DeviceCondition";
import styles from "./DeviceMap.module.css";
import { colourOf, coloursOf, type DeviceSet, deviceSets } from "./devices";
import { WHOLE } from "./load";

/** The accelerators of a node, near ones together, each filled by what sessions hold of it, with its condition. */
export function DeviceMap({ devices }: { devices: readonly Device[] }) {
  const colours = coloursOf(devices);
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        <Trans>Accelerators</Trans>
      </Title>
      {deviceSets(devices).map((set) => (
        <div key={set.key} className={styles.set}>
          <SetTitle set={set} />
          <ul className={styles.tiles}>
            {set.devices.map((device) => (
              <li key={device.id}>
                <Tile device={device} colours={colours} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

function SetTitle({ set }: { set: DeviceSet }) {
  const { t } = useLingui();
  const { number, connected, numa } = set;
  const facts = [
    t`Set ${number}`,
    ...(connected ? [t`connected directly`] : []),
    ...(numa === null ? [] : [t`NUMA node ${numa}`]),
  ];
  return (
    <Title order={3} size="h6" className={styles.title}>
      {facts.join(" · ")}
    </Title>
  );
}

function Tile({ device, colours }: { device: Device; colours: ReadonlyMap<string, number> }) {
  const used = formatCores(device.used);
  const left = WHOLE - device.used;
  return (
    <article
      className={styles.tile}
      aria-label={device.model || device.family}
      title={device.pci || undefined}
    >
      <header className={styles.header}>
        <span className={styles.model}>{device.model || device.family}</span>
        {device.mem_bytes !== null && <span className={styles.faint}>{formatSize(device.mem_bytes)}</span>}
      </header>
      <div className={styles.bar} aria-hidden>
        {device.holders.map((holder, index) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: parts of others have no identity
            key={index}
            data-colour={colourOf(holder, colours)}
            style={{ width: `${(holder.amount / WHOLE) * 100}%` }}
          />
        ))}
      </div>
      <p className={styles.faint}>
        {device.healthy && left === WHOLE && <Trans>Free</Trans>}
        {left < WHOLE && <Trans>{used} of 1 allocated</Trans>}
      </p>
      <ul className={styles.holders}>
        {device.holders.map((holder, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of others have no identity
          <li key={index}>
            <span className={styles.key} data-colour={colourOf(holder, colours)} aria-hidden />
            <span className={styles.part}>{formatCores(holder.amount)}</span>
            {holder.session ? (
              <>
                <Link to="/sessions" search={{ owner: "all", session: holder.session.id }}>
                  {holder.session.name}
                </Link>
                <span className={styles.faint}>
                  <AccountName email={holder.session.owner.email} />
                </span>
              </>
            ) : (
              <span className={styles.faint}>
                <Trans>session of somebody else</Trans>
              </span>
            )}
          </li>
        ))}
      </ul>
      <DeviceCondition device={device} />
      <p className={styles.id}>{device.id}</p>
    </article>
  );
}
