import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { mayPrefetch } from "@/routing/prefetch";

const AT_REST_MS = 2000;

/**
 * Downloads the code of all pages, one after the other, when the first page is idle: they then open at once, also
 * while the server is down. Excludes the terminal, which is large and opens in its own window.
 */
export function usePrefetch(): void {
  const router = useRouter();
  useEffect(() => {
    let stopped = false;
    const timer = setTimeout(async () => {
      for (const route of Object.values(router.routesById)) {
        await mayPrefetch();
        if (stopped) return;
        if (!route.fullPath?.startsWith("/terminal")) await router.loadRouteChunk(route);
      }
    }, AT_REST_MS);
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [router]);
}
