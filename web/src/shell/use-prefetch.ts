import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

const AT_REST_MS = 2000;

/**
 * Downloads the code of the pages below these paths, one after the other, when the first page is idle: they
 * then open at once, also while the server is down. Null: of all pages. Excludes the terminal, which is large
 * and opens in its own window.
 */
export function usePrefetch(paths: readonly string[] | null): void {
  const router = useRouter();
  const below = paths?.join("\n");
  useEffect(() => {
    let stopped = false;
    const timer = setTimeout(async () => {
      for (const route of Object.values(router.routesById)) {
        if (stopped) return;
        const path: string = route.fullPath ?? "";
        if (path.startsWith("/terminal")) continue;
        if (below && !below.split("\n").some((each) => path.startsWith(each))) continue;
        await router.loadRouteChunk(route);
      }
    }, AT_REST_MS);
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [router, below]);
}
