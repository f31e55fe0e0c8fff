import type { Group, Share } from "@/api/types";

/** One line of the picture of shares. */
export interface ShareLine {
  /** Ids from the domain down to it. */
  path: string;
  node: Share;
  depth: number;
  /** The part of what all of its place have had together, 0 to 1. */
  portion: number;
  /** Of those of its place who wait, it goes first. */
  next: boolean;
}

/** The tree as lines: each domain, under it its projects, under each its people; who goes next first. */
export function linesOf(nodes: readonly Share[], above = "", depth = 0): ShareLine[] {
  const had = nodes.reduce((sum, node) => sum + node.share, 0);
  const first = nodes.find((node) => node.waiting > 0);
  return nodes.flatMap((node) => {
    const path = above ? `${above}/${node.id}` : node.id;
    const portion = had > 0 ? node.share / had : 0;
    return [{ path, node, depth, portion, next: node === first }, ...linesOf(node.children, path, depth + 1)];
  });
}

type Weights = NonNullable<Group["weights"]>;
type Place = keyof Weights;
const PLACES: Readonly<Record<string, Place>> = { domain: "domains", project: "projects", user: "users" };

/** All weights of a group with one of them changed; 1 is what holds without any, and needs no keeping. */
export function withWeight(
  weights: Weights,
  { kind, id }: Pick<Share, "kind" | "id">,
  weight: number,
): Record<Place, Record<string, number>> {
  const changed = PLACES[kind];
  const of = (place: Place) => {
    const kept = Object.fromEntries(weights[place].map((one) => [one.id, one.weight]));
    if (place !== changed) return kept;
    const { [id]: _before, ...others } = kept;
    return weight === 1 ? others : { ...others, [id]: weight };
  };
  return { domains: of("domains"), projects: of("projects"), users: of("users") };
}
