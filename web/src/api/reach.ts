import { Problem } from "./problem";

const PAUSES_MS = [150, 600, 2000];

/**
 * The answer to a request that may be sent twice, sent again while nothing answers it.
 *
 * A browser on the machine that runs the containers drops every request in flight whenever a network comes or goes
 * there, so a request that got lost is an everyday thing. Only for requests that do no harm when both arrive.
 */
export async function untilAnswered<T>(send: () => Promise<T>): Promise<T> {
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
