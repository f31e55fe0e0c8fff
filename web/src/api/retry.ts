import { Problem } from "./problem";

/** As long as a server takes to restart, half a minute. */
const PAUSES_MS = [150, 600, 2000, 3000, 5000, 5000, 5000, 5000, 5000];

/**
 * Sends an idempotent request, and retries it while the server does not respond.
 *
 * A browser on the machine that runs the containers drops every request in flight whenever a network is
 * created or removed there, so lost requests are common. Only for requests that are safe to send twice.
 */
export async function retryWhileUnreachable<T>(send: () => Promise<T>): Promise<T> {
  for (const pause of PAUSES_MS) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof Problem && error.unreachable)) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  return send();
}
