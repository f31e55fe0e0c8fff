import { QueryClient } from "@tanstack/react-query";
import { Problem } from "@/api/problem";

/** The one home of server state. Events keep it fresh, so nothing is asked again on a timer or on focus. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      refetchOnWindowFocus: false,
      // A "no" is an answer; only a server that did not answer is asked again.
      retry: (failures, error) => failures < 4 && error instanceof Problem && error.unreachable,
      retryDelay: (failures) => 150 * 3 ** failures,
    },
  },
});
