import { Trans, useLingui } from "@lingui/react/macro";
import { Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { memo } from "react";
import type { NodeDevices } from "@/api/types";
import styles from "./DeviceHeatMap.module.css";
import { countsOf } from "./devices";
import { byGroup, shade, WHOLE } from "./load";

/** Each device of each node as a small square, its colour stronger the more of it is allocated. */
export function DeviceHeatMap({ nodes }: { nodes: readonly NodeDevices[] }) {
  return (
    <div className={styles.map}>
      <Legend />
      {byGroup(nodes).map(([group, members]) => (
        <section key={group} className={styles.group}>
          <Title order={2} size="h5">
            {group}
          </Title>
          <ul className={styles.nodes}>
            {members.map((node) => (
              <li key={node.id}>
                <NodeSquares node={node} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

/** The query keeps what did not change, so only changed nodes are drawn again. */
const NodeSquares = memo(function NodeSquares({ node }: { node: NodeDevices }) {
  const { t } = useLingui();
  const all = node.devices.length;
  const { free, broken } = countsOf(node.devices);
  const figures = t`${free} of ${all} free, ${broken} allocated in part`;
  // Starts with the visible text, as WCAG 2.5.3 (label in name) requires.
  const { name } = node;
  const families = new Set(node.devices.map(({ family }) => family));
  const kinds = [...families].join(", ");
  const label = node.open ? `${name}: ${kinds}, ${figures}` : t`${name}: ${kinds}, ${figures}; closed`;
  return (
    <Link
      to="/resources"
      search={{ open: node.id }}
      className={styles.node}
      data-closed={!node.open || undefined}
      aria-label={label}
      title={label}
    >
      <span className={styles.name}>{name}</span>
      {[...families].map((family) => (
        <span key={family} className={styles.row} aria-hidden>
          <span className={styles.family}>{family}</span>
          <span className={styles.squares}>
            {node.devices
              .filter((device) => device.family === family)
              .map(({ id, used }) => (
                <span key={id} className={styles.square} data-shade={shade(used / WHOLE)} />
              ))}
          </span>
        </span>
      ))}
    </Link>
  );
});

function Legend() {
  const steps = [<Trans key="free">free</Trans>, "< 40%", "< 70%", "< 90%", "≥ 90%"];
  return (
    <div className={styles.legend} aria-hidden>
      {steps.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the steps never change
        <span key={index}>
          <span className={styles.square} data-shade={index} />
          {step}
        </span>
      ))}
      <span className={styles.closed}>
        <Trans>dashed: closed</Trans>
      </span>
    </div>
  );
}
