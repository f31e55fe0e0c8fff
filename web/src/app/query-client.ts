import { QueryClient } from "@tanstack/react-query";
import { Problem } from "@/api/problem";

const HEALS_MS = 3_000;

/** The only store of server state. Events keep it fresh, so there is no polling and no refetch on focus. */
export const queryClient = new QueryClient({
  defaultOptions: {
    // Ignore the browser's online state: a server on this machine is reachable without a network. A request
    // that fails reports an error; a paused one reports nothing.
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always",
      staleTime: 15_000,
      refetchOnWindowFocus: false,
      // Retry only when the server did not respond; an error response is final.
      retry: (failures, error) => failures < 4 && error instanceof Problem && error.unreachable,
      retryDelay: (failures) => 150 * 3 ** failures,
      // Clears the error once the server has recovered.
      refetchInterval: ({ state }) =>
        state.error instanceof Problem && state.error.temporary ? HEALS_MS : false,
    },
  },
});
