import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Text, VisuallyHidden } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { hasEnded } from "@/api/session-states";
import type { GraphNode, SessionGraph } from "@/api/types";
import { rowName, rowResult, rowState } from "@/features/sessions/arrays";
import { SessionBadge } from "@/features/sessions/SessionBadge";
import { useConditionText } from "@/features/sessions/use-condition-text";
import styles from "./DependencyGraph.module.css";
import { BOX, layout } from "./graph-layout";

/** Sessions and arrays from left to right in the order in which they start; each is a link to its details. */
export function DependencyGraph({ graph, own }: { graph: SessionGraph; own: string }) {
  const { t } = useLingui();
  const conditionText = useConditionText();
  const { nodes, edges, width, height } = layout(graph.nodes, graph.edges);
  const nodeOf = new Map(graph.nodes.map((node) => [node.id, node]));
  const nameOf = (id: string, index: number | null) => {
    const node = nodeOf.get(id);
    if (!node) return "";
    return node.array && index !== null ? `${node.array.name}-${index}` : rowName(node);
  };
  const othersOf = (id: string) =>
    graph.edges
      .filter(({ session }) => session === id)
      .map(({ after, index, condition }) => `${nameOf(after, index)} (${conditionText(condition)})`)
      .join(", ");
  return (
    <div className={styles.frame}>
      <div className={styles.graph} style={{ width, height }}>
        <svg className={styles.lines} width={width} height={height} aria-hidden="true">
          {edges.map(({ edge, path, at }) => (
            <g key={`${edge.after} ${edge.index} ${edge.session}`}>
              <path
                d={path}
                className={`${styles.line} ${edge.met === null ? "" : edge.met ? styles.met : styles.never}`}
              />
              {(edge.condition !== "succeeded" || edge.index !== null) && (
                <text x={at.x} y={at.y + 4} className={styles.condition}>
                  {edge.index !== null && `#${edge.index} `}
                  {edge.condition !== "succeeded" && conditionText(edge.condition)}
                </text>
              )}
            </g>
          ))}
        </svg>
        <ul className={styles.nodes} aria-label={t`Dependencies`}>
          {nodes.map(({ node, x, y }) => (
            <li
              key={node.id}
              className={styles.node}
              style={{ left: x, top: y, width: BOX.width, height: BOX.height }}
            >
              <Link
                to="/sessions"
                search={{ state: "all", owner: "all", session: node.id, tab: "dependencies" }}
                className={`${styles.box} ${node.id === own ? styles.own : ""}`}
                title={rowName(node)}
              >
                <span className={styles.name}>{rowName(node)}</span>
                <Group gap={6} wrap="nowrap">
                  <SessionBadge state={rowState(node)} result={rowResult(node)} />
                  {node.array && <ArrayProgress array={node.array} />}
                </Group>
                {othersOf(node.id) && (
                  <VisuallyHidden>
                    <Trans>starts after {othersOf(node.id)}</Trans>
                  </VisuallyHidden>
                )}
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

/** How many sessions of an array have ended. */
function ArrayProgress({ array }: { array: NonNullable<GraphNode["array"]> }) {
  const { t } = useLingui();
  const sum = (counts: typeof array.counts) => counts.reduce((total, { count }) => total + count, 0);
  const [ended, all] = [sum(array.counts.filter(({ state }) => hasEnded(state))), sum(array.counts)];
  return (
    <Text size="xs" c="dimmed" title={t`${ended} of ${all} have ended`}>
      {ended}/{all}
    </Text>
  );
}
