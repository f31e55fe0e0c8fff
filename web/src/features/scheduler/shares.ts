import type { Group, Share, Shares } from "@/api/types";

/** One line of the fair-share chart. */
export interface ShareLine {
  /** Ids from the domain down. */
  path: string;
  node: Share;
  depth: number;
  /** Fraction of the siblings' total usage, 0 to 1; null if the siblings are hidden. */
  portion: number | null;
  /** Next among the pending siblings; only with the fair-share scheduler. */
  next: boolean;
}

/**
 * The tree as lines: domains, their projects, their users; the next claimant first.
 *
 * whole: all domains are visible. With only one visible, its fraction of the group is unknown.
 */
export function linesOf(
  { items, scheduler }: Pick<Shares, "items" | "scheduler">,
  isComplete: boolean,
): ShareLine[] {
  const fair = scheduler === "fair_share";
  const below = (nodes: readonly Share[], above: string, depth: number): ShareLine[] => {
    const shown = isComplete || depth > 0;
    const had = nodes.reduce((sum, node) => sum + node.share, 0);
    const first = shown && fair ? nodes.find((node) => node.waiting > 0) : undefined;
    return nodes.flatMap((node) => {
      const path = above ? `${above}/${node.id}` : node.id;
      const portion = shown ? (had > 0 ? node.share / had : 0) : null;
      return [{ path, node, depth, portion, next: node === first }, ...below(node.children, path, depth + 1)];
    });
  };
  return below(items, "", 0);
}

type Weights = NonNullable<Group["weights"]>;
type HolderKind = keyof Weights;
const PLACES: Readonly<Record<string, HolderKind>> = {
  domain: "domains",
  project: "projects",
  user: "users",
};

/** All weights of a group with one changed; the default 1 is not stored. */
export function withWeight(
  weights: Weights,
  { kind, id }: Pick<Share, "kind" | "id">,
  weight: number,
): Record<HolderKind, Record<string, number>> {
  const changed = PLACES[kind];
  const of = (kind: HolderKind) => {
    const kept = Object.fromEntries(weights[kind].map((one) => [one.id, one.weight]));
    if (kind !== changed) return kept;
    const { [id]: _before, ...others } = kept;
    return weight === 1 ? others : { ...others, [id]: weight };
  };
  return { domains: of("domains"), projects: of("projects"), users: of("users") };
}
