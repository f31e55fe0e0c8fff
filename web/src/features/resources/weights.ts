import type { Group } from "@/api/types";

export type WeightKind = "domains" | "projects" | "users";

/** One row of the weights of a group. */
export type Weight = { kind: WeightKind; id: string; label: string; weight: number };

/** The weights of a group. */
export function weightsOf({ weights }: Group): Weight[] {
  if (!weights) return [];
  return [
    ...weights.domains.map(({ id, name, weight }) => ({ kind: "domains" as const, id, label: name, weight })),
    ...weights.projects.map(({ id, name, domain, weight }) => ({
      kind: "projects" as const,
      id,
      label: `${name} (${domain})`,
      weight,
    })),
    ...weights.users.map(({ id, email, weight }) => ({ kind: "users" as const, id, label: email, weight })),
  ];
}

const KINDS: Record<WeightKind, string> = { domains: "domain", projects: "project", users: "user" };

/** The CLI options for the changed weights: users and domains by name, projects by id. */
export function weightWords(before: readonly Weight[], now: readonly Weight[]): string[] {
  const format = ({ kind, id, label }: Weight) => `${KINDS[kind]}=${kind === "projects" ? id : label}`;
  const same = (one: Weight) => (other: Weight) => one.kind === other.kind && one.id === other.id;
  return [
    ...now
      .filter((row) => before.find(same(row))?.weight !== row.weight)
      .flatMap((row) => ["--set", `${format(row)}:${row.weight}`]),
    ...before.filter((row) => !now.some(same(row))).flatMap((row) => ["--unset", format(row)]),
  ];
}
