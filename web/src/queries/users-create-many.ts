import { usersCreateMany } from "@/api/generated/sdk.gen";
import type { DraftUser, UserMade } from "@/api/types";

/** Makes these users, or only says what is wrong with each. The places in the answer are those in `rows`. */
export async function createMany(
  rows: DraftUser[],
  defaults: DraftUser,
  { dryRun, signal }: { dryRun: boolean; signal?: AbortSignal },
): Promise<UserMade[]> {
  const { data } = await usersCreateMany({ body: { rows, defaults }, query: { dry_run: dryRun }, signal });
  return data.items;
}
