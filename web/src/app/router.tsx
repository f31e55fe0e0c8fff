import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { whenSignedOut } from "@/api/client";
import { Problem } from "@/api/problem";
import { authMeQuery } from "@/queries/auth-me";
import { CrashPage } from "./CrashPage";
import { NotFoundPage } from "./NotFoundPage";
import { loadAgain } from "./part";
import { queryClient } from "./query-client";
import { listSearch, sessionsSearch, signInSearch } from "./search";

const rootRoute = createRootRoute({ component: Outlet });

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/signin",
  validateSearch: signInSearch,
  component: lazyRouteComponent(() => loadAgain(() => import("@/signin/SignInPage")), "SignInPage"),
});

const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "shell",
  beforeLoad: async ({ location }) => {
    try {
      await queryClient.ensureQueryData(authMeQuery);
    } catch (error) {
      if (error instanceof Problem && error.status === 401) {
        throw redirect({ to: "/signin", search: { next: location.href }, replace: true });
      }
      throw error;
    }
  },
  component: lazyRouteComponent(() => loadAgain(() => import("@/shell/Shell")), "Shell"),
});

const startRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/",
  component: lazyRouteComponent(() => loadAgain(() => import("@/start/StartPage")), "StartPage"),
});

export const sessionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/sessions",
  validateSearch: sessionsSearch,
  component: lazyRouteComponent(() => loadAgain(() => import("@/sessions/SessionsPage")), "SessionsPage"),
});

export const terminalRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/terminal/$id",
  component: lazyRouteComponent(() => loadAgain(() => import("@/terminal/TerminalPage")), "TerminalPage"),
});

const keypairsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/keypairs",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => loadAgain(() => import("@/account/KeypairsPage")), "KeypairsPage"),
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    signInRoute,
    shellRoute.addChildren([startRoute, sessionsRoute, terminalRoute, keypairsRoute]),
  ]),
  defaultPreload: "intent",
  defaultPendingMs: 300,
  defaultErrorComponent: CrashPage,
  defaultNotFoundComponent: NotFoundPage,
  scrollRestoration: true,
});

// Wherever a request finds out that the session is over, the person signs in again and comes back here.
whenSignedOut(() => {
  const here = router.state.location;
  if (here.pathname === "/signin") return;
  queryClient.removeQueries({ queryKey: authMeQuery.queryKey });
  void router.navigate({ to: "/signin", search: { next: here.href } });
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
