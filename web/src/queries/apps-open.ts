import { appsOpen } from "@/api/generated/sdk.gen";
import { untilReached } from "@/api/reach";

/** The one-time address of an app in a session; starts the app when it is not running, which may take seconds. */
export async function openAppAddress(sessionId: string, app: string): Promise<string> {
  const { data } = await untilReached(() => appsOpen({ path: { ref: sessionId, app } }));
  return data.url;
}
