import { Trans, useLingui } from "@lingui/react/macro";
import { Select, Skeleton, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Node } from "@/api/types";
import { type NodeFilter, nodesAllQuery } from "@/queries/nodes";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { useSlotName } from "@/ui/slots";
import { byGroup, kindsOf, loadOf, shade } from "./load";
import styles from "./NodeMap.module.css";
import { useNodeState } from "./use-node-state";

interface Props {
  filter: NodeFilter;
  /** The slot or device family that sets the colours; absent for the scarcest one on each node. */
  by: string | undefined;
  onBy: (by: string | undefined) => void;
  linkTo: (node: Node) => LinkProps;
  /** Shown if there are no nodes. */
  empty: ReactNode;
}

/** With more nodes, only the squares are drawn. */
const NAMED = 120;
const SCARCEST = "";

/** Each node as a square, coloured by load, by resource group. */
export function NodeMap({ filter, by, onBy, linkTo, empty }: Props) {
  const { t } = useLingui();
  const name = useSlotName();
  const query = useQuery(nodesAllQuery(filter));
  const nodes = query.data ?? [];
  if (query.isPending) {
    return (
      <div className={styles.map} aria-busy>
        <Skeleton height={180} />
      </div>
    );
  }
  if (query.isError) {
    return (
      <div className={styles.map}>
        <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  }
  if (nodes.length === 0) return <div className={styles.map}>{empty}</div>;
  const kinds = kindsOf(nodes);
  const kind = by !== undefined && kinds.includes(by) ? by : undefined;
  return (
    <div className={`${styles.map} ${nodes.length > NAMED ? styles.dense : ""}`}>
      <div className={styles.bar}>
        <Select
          size="xs"
          w={220}
          label={t`Coloured by`}
          allowDeselect={false}
          value={kind ?? SCARCEST}
          onChange={(next) => onBy(next || undefined)}
          data={[
            { value: SCARCEST, label: t`scarcest slot of each node` },
            ...kinds.map((each) => ({ value: each, label: name(each) })),
          ]}
        />
        <Legend />
      </div>
      {byGroup(nodes).map(([group, members]) => (
        <section key={group} className={styles.group}>
          <Title order={2} size="h5">
            {group}
          </Title>
          <ul className={styles.grid}>
            {members.map((node) => (
              <li key={node.id}>
                <Tile node={node} kind={kind} link={linkTo(node)} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function Tile({ node, kind, link }: { node: Node; kind: string | undefined; link: LinkProps }) {
  const { t } = useLingui();
  const name = useSlotName();
  const { word, kind: condition } = useNodeState()(node);
  const load = loadOf(node, kind);
  const percent = Math.round(load * 100);
  const what = kind === undefined ? t`scarcest slot` : name(kind);
  const figures = condition === "ready" ? `${percent}%` : `${percent}% · ${word}`;
  // Starts with the visible text, as WCAG 2.5.3 (label in name) requires.
  const label = t`${node.name} ${figures} (${what})`;
  return (
    <Link {...link} className={styles.tile} aria-label={label} title={label}>
      <span
        className={styles.square}
        data-shade={shade(load)}
        data-condition={condition === "ready" ? undefined : condition}
      />
      <span className={styles.name}>{node.name}</span> <span className={styles.faint}>{figures}</span>
    </Link>
  );
}

function Legend() {
  const steps = ["0%", "< 40%", "< 70%", "< 90%", "≥ 90%"];
  return (
    <div className={styles.legend} aria-hidden>
      {steps.map((step, index) => (
        <span key={step}>
          <span className={`${styles.square} ${styles.key}`} data-shade={index} />
          {step}
        </span>
      ))}
      <span>
        <span className={`${styles.square} ${styles.key}`} data-shade="0" data-condition="cordoned" />
        <Trans>cordoned</Trans>
      </span>
      <span>
        <span className={`${styles.square} ${styles.key}`} data-condition="down" />
        <Trans>down</Trans>
      </span>
    </div>
  );
}
