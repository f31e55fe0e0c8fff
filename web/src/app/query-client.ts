import { QueryClient } from "@tanstack/react-query";
import { Problem } from "@/api/problem";

const HEALS_MS = 3_000;

/** The one home of server state. Events keep it fresh, so nothing is asked again on a timer or on focus. */
export const queryClient = new QueryClient({
  defaultOptions: {
    // The browser's own idea of being online is not asked: a server on this machine is there without any network, and
    // a request that fails says so, while one that is held back says nothing.
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always",
      staleTime: 15_000,
      refetchOnWindowFocus: false,
      // A "no" is an answer; only a server that did not answer is asked again.
      retry: (failures, error) => failures < 4 && error instanceof Problem && error.unreachable,
      retryDelay: (failures) => 150 * 3 ** failures,
      // An error goes away by itself when the server is well again.
      refetchInterval: ({ state }) =>
        state.error instanceof Problem && state.error.temporary ? HEALS_MS : false,
    },
  },
});
