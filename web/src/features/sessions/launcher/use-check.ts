import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { CheckRequest } from "@/api/types";
import { sessionsCheckQuery } from "@/queries/sessions";

/** Debounce time of a slider. */
const REST_MS = 250;
const LEAST_CPU = 10;
const LEAST_MEM = 4 * 2 ** 20;

/**
 * The server's estimate for the request being edited.
 *
 * settled: the estimate is for the current request, not for a previous one.
 */
export function useCheck(request: CheckRequest) {
  const key = JSON.stringify(request);
  const [rested] = useDebouncedValue(key, REST_MS);
  const resting = useMemo(() => JSON.parse(rested) as CheckRequest, [rested]);
  const { cpu = 0, mem = 0 } = resting.slots;
  // Skip incomplete requests; the form itself shows their errors.
  const query = useQuery({
    ...sessionsCheckQuery(resting),
    enabled: cpu >= LEAST_CPU && mem >= LEAST_MEM,
  });
  return { ...query, settled: key === rested && !query.isPlaceholderData && !query.isPending };
}
