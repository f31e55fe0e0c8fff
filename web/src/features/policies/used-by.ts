import type { Policy } from "@/api/types";

/** How many have a policy, of whatever kind. */
export const holdersOf = ({ used_by: of }: Policy): number =>
  of.keypairs + of.sign_ins + of.users + of.projects;
