import type { GraphEdge, GraphNode } from "@/api/types";

export const BOX = { width: 168, height: 56, gapX: 56, gapY: 16 } as const;

export interface PlacedNode {
  node: GraphNode;
  x: number;
  y: number;
}

export interface DrawnEdge {
  edge: GraphEdge;
  /** The line from the earlier session to the later one, as an SVG path. */
  path: string;
  /** The middle of the line. */
  at: { x: number; y: number };
}

export interface Layout {
  /** From left to right, top to bottom: also the order of keyboard focus. */
  nodes: PlacedNode[];
  edges: DrawnEdge[];
  width: number;
  height: number;
}

/**
 * Places the sessions of an acyclic graph: each one column right of the last one that it starts after, and near the
 * rows of those.
 */
export function layout(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Layout {
  const columns = new Map<string, number>();
  const before = (id: string) => edges.filter(({ session }) => session === id).map(({ after }) => after);
  const columnOf = (id: string): number => {
    const known = columns.get(id);
    if (known !== undefined) return known;
    columns.set(id, 0);
    const column = Math.max(-1, ...before(id).map(columnOf)) + 1;
    columns.set(id, column);
    return column;
  };
  for (const { id } of nodes) columnOf(id);

  const placed: PlacedNode[] = [];
  const rowOf = new Map<string, number>();
  const last = Math.max(0, ...columns.values());
  for (let column = 0; column <= last; column++) {
    const height = (id: string) => {
      const rows = before(id).map((one) => rowOf.get(one) ?? 0);
      return rows.length > 0 ? rows.reduce((sum, row) => sum + row, 0) / rows.length : 0;
    };
    const here = nodes.filter(({ id }) => columns.get(id) === column);
    // Sorting is stable: the server's order decides between equals.
    const sorted = here.toSorted((one, other) => height(one.id) - height(other.id));
    for (const [row, node] of sorted.entries()) {
      rowOf.set(node.id, row);
      placed.push({ node, x: column * (BOX.width + BOX.gapX), y: row * (BOX.height + BOX.gapY) });
    }
  }
  const at = new Map(placed.map((one) => [one.node.id, one]));
  return {
    nodes: placed,
    edges: edges.flatMap((edge) => {
      const [from, to] = [at.get(edge.after), at.get(edge.session)];
      return from && to ? [drawn(edge, from, to)] : [];
    }),
    width: Math.max(0, ...placed.map(({ x }) => x)) + BOX.width,
    height: Math.max(0, ...placed.map(({ y }) => y)) + BOX.height,
  };
}

function drawn(edge: GraphEdge, from: PlacedNode, to: PlacedNode): DrawnEdge {
  const [x1, y1] = [from.x + BOX.width, from.y + BOX.height / 2];
  const [x2, y2] = [to.x, to.y + BOX.height / 2];
  const bend = BOX.gapX / 2;
  return {
    edge,
    path: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`,
    at: { x: (x1 + x2) / 2, y: (y1 + y2) / 2 },
  };
}
