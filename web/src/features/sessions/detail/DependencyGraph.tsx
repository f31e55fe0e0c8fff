import { Trans, useLingui } from "@lingui/react/macro";
import { VisuallyHidden } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { SessionGraph } from "@/api/types";
import { SessionBadge } from "@/features/sessions/SessionBadge";
import { useConditionText } from "@/features/sessions/use-condition-text";
import styles from "./DependencyGraph.module.css";
import { BOX, layout } from "./graph-layout";

/** Sessions from left to right in the order in which they start; each is a link to its details. */
export function DependencyGraph({ graph, own }: { graph: SessionGraph; own: string }) {
  const { t } = useLingui();
  const conditionText = useConditionText();
  const { nodes, edges, width, height } = layout(graph.nodes, graph.edges);
  const nameOf = new Map(graph.nodes.map(({ id, name }) => [id, name]));
  const othersOf = (id: string) =>
    graph.edges
      .filter(({ session }) => session === id)
      .map(({ after, condition }) => `${nameOf.get(after)} (${conditionText(condition)})`)
      .join(", ");
  return (
    <div className={styles.frame}>
      <div className={styles.graph} style={{ width, height }}>
        <svg className={styles.lines} width={width} height={height} aria-hidden="true">
          {edges.map(({ edge, path, at }) => (
            <g key={`${edge.after} ${edge.session}`}>
              <path
                d={path}
                className={`${styles.line} ${edge.met === null ? "" : edge.met ? styles.met : styles.never}`}
              />
              {edge.condition !== "succeeded" && (
                <text x={at.x} y={at.y + 4} className={styles.condition}>
                  {conditionText(edge.condition)}
                </text>
              )}
            </g>
          ))}
        </svg>
        <ul className={styles.nodes} aria-label={t`Dependencies`}>
          {nodes.map(({ node: { id, name, state, result }, x, y }) => (
            <li
              key={id}
              className={styles.node}
              style={{ left: x, top: y, width: BOX.width, height: BOX.height }}
            >
              <Link
                to="/sessions"
                search={{ state: "all", owner: "all", session: id, tab: "dependencies" }}
                className={`${styles.box} ${id === own ? styles.own : ""}`}
                title={name}
              >
                <span className={styles.name}>{name}</span>
                <SessionBadge state={state} result={result} />
                {othersOf(id) && (
                  <VisuallyHidden>
                    <Trans>starts after {othersOf(id)}</Trans>
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
