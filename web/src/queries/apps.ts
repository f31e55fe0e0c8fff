import { queryOptions } from "@tanstack/react-query";
import { appsList, appsOpen } from "@/api/generated/sdk.gen";
import { retryWhileUnreachable } from "@/api/retry";

/** The apps of a session, and whether each is running. */
export function appsListQuery(id: string) {
  return queryOptions({
    queryKey: ["apps", "list", id] as const,
    queryFn: async ({ signal }) => (await appsList({ path: { ref: id }, signal })).data.items,
  });
}

/** The one-time URL of an app; starts the app if needed, which may take seconds. */
export async function openAppAddress(sessionId: string, app: string): Promise<string> {
  const { data } = await retryWhileUnreachable(() => appsOpen({ path: { ref: sessionId, app } }));
  return data.url;
}
