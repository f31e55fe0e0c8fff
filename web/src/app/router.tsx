import { queryOptions } from "@tanstack/react-query";
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
import { StartPage } from "@/features/start/StartPage";
import { authMeQuery } from "@/queries/auth";
import { importLink } from "@/routing/import-link";
import { loadPart } from "@/routing/part";
import {
  activitySearch,
  appTemplatesSearch,
  auditSearch,
  dashboardSearch,
  devicesSearch,
  environmentsSearch,
  explorerSearch,
  foldersSearch,
  groupsSearch,
  hostsSearch,
  imagesSearch,
  listSearch,
  nodesSearch,
  ownListSearch,
  placesSearch,
  policiesSearch,
  presetsSearch,
  quotasSearch,
  registriesSearch,
  schedulerSearch,
  schedulesSearch,
  sessionsSearch,
  signInSearch,
  statisticsSearch,
  templatesSearch,
  terminalSearch,
  usersSearch,
} from "@/routing/search";
import { Shell } from "@/shell/Shell";
import { ConnectingPage } from "./ConnectingPage";
import { CrashPage } from "./CrashPage";
import { NotFoundPage } from "./NotFoundPage";
import { queryClient } from "./query-client";

/** A page whose code is downloaded when it is first opened; a failed download is retried. */
const page = <Module extends Record<string, unknown>, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) => lazyRouteComponent(() => loadPart(load), name);

const rootRoute = createRootRoute({ component: Outlet });

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/signin",
  validateSearch: signInSearch,
  beforeLoad: async ({ search, cause }) => {
    // Always refetch, so that an incomplete sign-in continues with its next step after a reload.
    const me = await queryClient.fetchQuery({ ...authMeQuery, staleTime: 0, retry: false }).catch(() => null);
    if (me && !me.pending) throw redirect({ href: search.next ?? "/", replace: true });
    // Clear cached data so that the next user sees nothing of the previous one; not below a page that shows it.
    if (!me && cause === "enter") queryClient.clear();
  },
  component: page(() => import("@/features/signin/SignInPage"), "SignInPage"),
});

/** The pages for visitors without an account or a password. */
const forgotPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/forgot-password",
  component: page(() => import("@/features/signin/ForgotPasswordPage"), "ForgotPasswordPage"),
});

const resetPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/reset-password",
  component: page(() => import("@/features/signin/ResetPasswordPage"), "ResetPasswordPage"),
});

const signUpRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-up",
  component: page(() => import("@/features/signin/SignUpPage"), "SignUpPage"),
});

const verifyEmailRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/verify-email",
  component: page(() => import("@/features/signin/VerifyEmailPage"), "VerifyEmailPage"),
});

const PUBLIC_PATHS: readonly string[] = [
  "/signin",
  "/forgot-password",
  "/reset-password",
  "/sign-up",
  "/verify-email",
];

/** While the server does not respond, the page frame shows that and retries. */
const untilReached = queryOptions({
  ...authMeQuery,
  retry: (_failures, error) => error instanceof Problem && error.temporary,
  retryDelay: (failures) => Math.min(150 * 3 ** failures, 2000),
});

const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "shell",
  beforeLoad: async ({ location }) => {
    const me = await queryClient.ensureQueryData(untilReached).catch((error) => {
      if (error instanceof Problem && error.status === 401) return null;
      throw error;
    });
    if (!me || me.pending) {
      throw redirect({ to: "/signin", search: { next: location.href }, replace: true });
    }
  },
  pendingComponent: ConnectingPage,
  component: Shell,
});

const startRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/",
  component: StartPage,
});

export const sessionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/sessions",
  validateSearch: sessionsSearch,
  component: page(() => import("@/features/sessions/SessionsPage"), "SessionsPage"),
});

const sharedLinkRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/shared",
  component: page(() => import("@/features/sessions/sharing/SharedLinkPage"), "SharedLinkPage"),
});

const schedulesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/sessions/recurring",
  validateSearch: schedulesSearch,
  component: page(() => import("@/features/schedules/SchedulesPage"), "SchedulesPage"),
});

export const terminalRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/terminal/$id",
  validateSearch: terminalSearch,
  component: page(() => import("@/features/terminal/TerminalPage"), "TerminalPage"),
});

const HelpPage = page(() => import("@/features/help/HelpPage"), "HelpPage");

const helpRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/help",
  component: HelpPage,
});

const documentRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/help/$",
  component: HelpPage,
});

const settingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/settings",
  component: page(() => import("@/features/account/SettingsPage"), "SettingsPage"),
});

const settingsIndexRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/settings/profile", replace: true });
  },
});

const profileRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "profile",
  component: page(() => import("@/features/account/ProfilePage"), "ProfilePage"),
});

const passwordRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "password",
  component: page(() => import("@/features/account/PasswordPage"), "PasswordPage"),
});

const twoFactorRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "two-factor",
  component: page(() => import("@/features/account/TwoFactorPage"), "TwoFactorPage"),
});

const passkeysRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "passkeys",
  component: page(() => import("@/features/account/PasskeysPage"), "PasskeysPage"),
});

const keypairsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "keypairs",
  validateSearch: ownListSearch,
  component: page(() => import("@/features/account/KeypairsPage"), "KeypairsPage"),
});

const tokensRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "tokens",
  validateSearch: ownListSearch,
  component: page(() => import("@/features/account/TokensPage"), "TokensPage"),
});

const sshKeysRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "ssh-keys",
  validateSearch: ownListSearch,
  component: page(() => import("@/features/account/SshKeysPage"), "SshKeysPage"),
});

const dotfilesRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "dotfiles",
  validateSearch: ownListSearch,
  component: page(() => import("@/features/account/DotfilesPage"), "DotfilesPage"),
});

const signInsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "sign-ins",
  validateSearch: listSearch,
  component: page(() => import("@/features/account/SignInsPage"), "SignInsPage"),
});

const preferencesRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "preferences",
  component: page(() => import("@/features/account/PreferencesPage"), "PreferencesPage"),
});

const notificationsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "notifications",
  component: page(() => import("@/features/notifications/NotificationsPage"), "NotificationsPage"),
});

const activityRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "activity",
  validateSearch: activitySearch,
  component: page(() => import("@/features/account/ActivityPage"), "ActivityPage"),
});

/** Former address of the keypairs page, kept for old links. */
const formerKeypairsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/keypairs",
  validateSearch: ownListSearch,
  beforeLoad: ({ search }) => {
    throw redirect({ to: "/settings/keypairs", search, replace: true });
  },
});

const usersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/users",
  validateSearch: usersSearch,
  component: page(() => import("@/features/users/UsersPage"), "UsersPage"),
});

const allKeypairsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/users/keypairs",
  validateSearch: listSearch,
  component: page(() => import("@/features/users/AllKeypairsPage"), "AllKeypairsPage"),
});

const projectsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/projects",
  validateSearch: placesSearch,
  component: page(() => import("@/features/projects/ProjectsPage"), "ProjectsPage"),
});

const domainsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/domains",
  validateSearch: placesSearch,
  component: page(() => import("@/features/domains/DomainsPage"), "DomainsPage"),
});

const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/audit",
  validateSearch: auditSearch,
  component: page(() => import("@/features/audit/AuditPage"), "AuditPage"),
});

const siteRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/site",
  component: page(() => import("@/features/site/SitePage"), "SitePage"),
});

const providersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/providers",
  validateSearch: placesSearch,
  component: page(() => import("@/features/providers/ProvidersPage"), "ProvidersPage"),
});

const resourcesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/resources",
  validateSearch: nodesSearch,
  component: page(() => import("@/features/resources/NodesPage"), "NodesPage"),
});

const devicesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/resources/devices",
  validateSearch: devicesSearch,
  component: page(() => import("@/features/resources/DevicesPage"), "DevicesPage"),
});

const groupsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/resources/groups",
  validateSearch: groupsSearch,
  component: page(() => import("@/features/resources/GroupsPage"), "GroupsPage"),
});

const enginesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/resources/engines",
  validateSearch: placesSearch,
  component: page(() => import("@/features/resources/EnginesPage"), "EnginesPage"),
});

const presetsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/resources/presets",
  validateSearch: presetsSearch,
  component: page(() => import("@/features/resources/PresetsPage"), "PresetsPage"),
});

const policiesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/policies",
  validateSearch: policiesSearch,
  component: page(() => import("@/features/policies/PoliciesPage"), "PoliciesPage"),
});

const agentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/agents",
  validateSearch: nodesSearch,
  component: page(() => import("@/features/agents/AgentsPage"), "AgentsPage"),
});

const statisticsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/statistics",
  validateSearch: statisticsSearch,
  component: page(() => import("@/features/statistics/StatisticsPage"), "StatisticsPage"),
});

const dashboardRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/dashboard",
  validateSearch: dashboardSearch,
  component: page(() => import("@/features/dashboard/DashboardPage"), "DashboardPage"),
});

const schedulerRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/scheduler",
  validateSearch: schedulerSearch,
  component: page(() => import("@/features/scheduler/SchedulerPage"), "SchedulerPage"),
});

const appTemplatesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/templates/apps",
  validateSearch: appTemplatesSearch,
  component: page(() => import("@/features/app-catalogue/AppCataloguePage"), "AppCataloguePage"),
});

const templatesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/templates",
  validateSearch: templatesSearch,
  component: page(() => import("@/features/templates/TemplatesPage"), "TemplatesPage"),
});

const environmentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/my-environments",
  validateSearch: environmentsSearch,
  component: page(() => import("@/features/environments/EnvironmentsPage"), "EnvironmentsPage"),
});

const importRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/import",
  validateSearch: importLink,
  component: page(() => import("@/features/imports/ImportPage"), "ImportPage"),
});

const dataRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/data",
  validateSearch: foldersSearch,
  component: page(() => import("@/features/folders/DataPage"), "DataPage"),
});

const filesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/data/$folder",
  validateSearch: explorerSearch,
  component: page(() => import("@/features/explorer/ExplorerPage"), "ExplorerPage"),
});

const hostsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/storage",
  validateSearch: hostsSearch,
  component: page(() => import("@/features/storage/HostsPage"), "HostsPage"),
});

const allFoldersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/storage/folders",
  validateSearch: foldersSearch,
  component: page(() => import("@/features/storage/AllFoldersPage"), "AllFoldersPage"),
});

const quotasRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/storage/quotas",
  validateSearch: quotasSearch,
  component: page(() => import("@/features/storage/QuotasPage"), "QuotasPage"),
});

const checksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/maintenance",
  component: page(() => import("@/features/maintenance/ChecksPage"), "ChecksPage"),
});

const consistencyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/maintenance/consistency",
  component: page(() => import("@/features/maintenance/ConsistencyPage"), "ConsistencyPage"),
});

const informationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/maintenance/information",
  component: page(() => import("@/features/maintenance/InformationPage"), "InformationPage"),
});

const nodeImagesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/maintenance/images",
  component: page(() => import("@/features/maintenance/ImageCleanUpPage"), "ImageCleanUpPage"),
});

const rescansRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/maintenance/scans",
  component: page(() => import("@/features/maintenance/RescansPage"), "RescansPage"),
});

const registriesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/environments/registries",
  validateSearch: registriesSearch,
  component: page(() => import("@/features/environments/RegistriesPage"), "RegistriesPage"),
});

const imagesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: "/environments/images",
  validateSearch: imagesSearch,
  component: page(() => import("@/features/environments/ImagesPage"), "ImagesPage"),
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    signInRoute,
    forgotPasswordRoute,
    resetPasswordRoute,
    signUpRoute,
    verifyEmailRoute,
    shellRoute.addChildren([
      startRoute,
      dashboardRoute,
      statisticsRoute,
      sessionsRoute,
      templatesRoute,
      environmentsRoute,
      importRoute,
      appTemplatesRoute,
      schedulesRoute,
      dataRoute,
      filesRoute,
      sharedLinkRoute,
      terminalRoute,
      formerKeypairsRoute,
      helpRoute,
      documentRoute,
      settingsRoute.addChildren([
        settingsIndexRoute,
        profileRoute,
        passwordRoute,
        twoFactorRoute,
        passkeysRoute,
        keypairsRoute,
        tokensRoute,
        sshKeysRoute,
        dotfilesRoute,
        signInsRoute,
        preferencesRoute,
        notificationsRoute,
        activityRoute,
      ]),
      usersRoute,
      allKeypairsRoute,
      projectsRoute,
      domainsRoute,
      schedulerRoute,
      hostsRoute,
      allFoldersRoute,
      quotasRoute,
      checksRoute,
      consistencyRoute,
      nodeImagesRoute,
      rescansRoute,
      informationRoute,
      registriesRoute,
      imagesRoute,
      resourcesRoute,
      devicesRoute,
      groupsRoute,
      presetsRoute,
      enginesRoute,
      policiesRoute,
      agentsRoute,
      auditRoute,
      siteRoute,
      providersRoute,
    ]),
  ]),
  defaultPreload: "intent",
  defaultPendingMs: 300,
  defaultErrorComponent: CrashPage,
  defaultNotFoundComponent: NotFoundPage,
  scrollRestoration: true,
});

// When any request finds the session expired, the user signs in again and returns to this page.
whenSignedOut(() => {
  const here = router.state.location;
  if (PUBLIC_PATHS.includes(here.pathname)) {
    // An incomplete sign-in that has expired starts again.
    if (queryClient.getQueryData(authMeQuery.queryKey)) {
      void queryClient.resetQueries({ queryKey: authMeQuery.queryKey });
    }
    return;
  }
  queryClient.removeQueries({ queryKey: authMeQuery.queryKey });
  void router.navigate({ to: "/signin", search: { next: here.href } });
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
