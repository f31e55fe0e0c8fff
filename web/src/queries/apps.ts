import { queryOptions } from "@tanstack/react-query";
import { appsList, appsOpen } from "@/api/generated/sdk.gen";
import { untilAnswered } from "@/api/reach";

/** The apps a session offers, and whether each is running. */
export function appsListQuery(id: string) {
  return queryOptions({
    queryKey: ["apps", "list", id] as const,
    queryFn: async ({ signal }) => (await appsList({ path: { ref: id }, signal })).data.items,
  });
}

/** The one-time address of an app in a session; starts the app when it is not running, which may take seconds. */
export async function openAppAddress(sessionId: string, app: string): Promise<string> {
  const { data } = await untilAnswered(() => appsOpen({ path: { ref: sessionId, app } }));
  return data.url;
}
