import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { CheckRequest } from "@/api/types";
import { sessionsCheckQuery } from "@/queries/sessions";

/** Long enough for a slider to come to rest. */
const REST_MS = 250;
const LEAST_CPU = 10;
const LEAST_MEM = 4 * 2 ** 20;

/**
 * What the server says would happen to a request that is still being written.
 *
 * settled: the answer is about the request as it stands, not about what it was a moment ago.
 */
export function useCheck(request: CheckRequest) {
  const key = JSON.stringify(request);
  const [rested] = useDebouncedValue(key, REST_MS);
  const resting = useMemo(() => JSON.parse(rested) as CheckRequest, [rested]);
  const { cpu = 0, mem = 0 } = resting.slots;
  // Less than this is no question to the server; the form says itself what is wrong with it.
  const query = useQuery({
    ...sessionsCheckQuery(resting),
    enabled: cpu >= LEAST_CPU && mem >= LEAST_MEM,
  });
  return { ...query, settled: key === rested && !query.isPlaceholderData && !query.isPending };
}
