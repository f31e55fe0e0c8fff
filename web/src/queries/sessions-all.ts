import { sessionsList } from "@/api/generated/sdk.gen";
import type { Session } from "@/api/types";
import type { SessionFilter } from "@/cache/patch";

/** Every session that the filter finds, newest first, asked for page by page. */
export async function everySession({ state, q, owner, project }: SessionFilter): Promise<Session[]> {
  const found: Session[] = [];
  let cursor: string | undefined;
  do {
    const query = { state, q: q || undefined, owner, project, limit: 200, cursor };
    const { data } = await sessionsList({ query });
    found.push(...data.items);
    cursor = data.next_cursor ?? undefined;
  } while (cursor);
  return found;
}
