import type { Policy } from "@/api/types";

/** The number of holders of a policy. */
export const holdersOf = ({ used_by: of }: Policy): number =>
  of.keypairs + of.sign_ins + of.users + of.projects;
