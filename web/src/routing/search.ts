import { SESSION_STATES } from "@/api/session-states";
import type { SessionFilter } from "@/cache/patch";
import { type ActivitySpan, SPANS } from "./activity-span";
import { type ImportLink, importOf } from "./import-link";
import { type LaunchLink, launchLink } from "./launch-link";

export const DETAIL_TABS = [
  "overview",
  "history",
  "logs",
  "apps",
  "sharing",
  "usage",
  "dependencies",
  "environment",
] as const;
export type DetailTab = (typeof DETAIL_TABS)[number];

/** Search parameters of every list: search text and order. */
export interface ListSearch {
  q?: string;
  /** The key of a column; unknown keys leave the list unsorted. */
  sort?: string;
  order?: "asc" | "desc";
}

/** Search parameters of the sessions page. */
export interface SessionsSearch extends ListSearch {
  state?: SessionFilter["state"];
  owner?: SessionFilter["owner"];
  /** Names of the domain, project, resource group and node filters. */
  domain?: string;
  project?: string;
  group?: string;
  node?: string;
  kind?: SessionFilter["kind"];
  /** The id of an array, for its sessions. */
  array?: string;
  /** Rows under the name of their project. */
  by?: "project";
  /** Keys of the shown columns, as of a saved view; absent: the user's choice in this browser. */
  columns?: string;
  /** Ids of the rows that are open in place, separated by commas. */
  rows?: string;
  /** The session in the open drawer. */
  session?: string;
  tab?: DetailTab;
  /** The open launcher: "new", or the id of the session whose settings it copies. */
  launch?: string;
  /** Id of the folder that the launcher mounts. */
  mount?: string;
  /** The template that the launcher begins from, and the values of its parameters. */
  template?: string;
  values?: Record<string, string>;
  /** The import that the launcher begins from. */
  import?: ImportLink;
  /** The form of the open launcher, where it differs from its initial values. */
  with?: LaunchLink;
}

const SESSION_KINDS = ["interactive", "batch", "inference"] as const;
const STATES = ["live", "ended", "all", ...SESSION_STATES] as const;

function oneOf<T extends string>(allowed: readonly T[], value: unknown): T | undefined {
  return allowed.find((one) => one === value);
}

const text = (value: unknown): string | undefined =>
  (typeof value === "string" || typeof value === "number") && value !== "" ? String(value) : undefined;

/** The members of an object that are texts. */
function texts(value: unknown): Record<string, string> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const entries = Object.entries(value).map(([name, one]) => [name, text(one)] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** The search parameters that all lists share. */
export function listSearch(raw: Record<string, unknown>): ListSearch {
  return { q: text(raw.q), sort: text(raw.sort), order: oneOf(["asc", "desc"], raw.order) };
}

export function sessionsSearch(raw: Record<string, unknown>): SessionsSearch {
  // Set invalid values to undefined instead of omitting them: the router merges this over the raw parameters.
  const search: SessionsSearch = {
    ...listSearch(raw),
    state: oneOf(STATES, raw.state),
    owner: text(raw.owner),
    domain: text(raw.domain),
    project: text(raw.project),
    group: text(raw.group),
    node: text(raw.node),
    kind: oneOf(SESSION_KINDS, raw.kind),
    array: text(raw.array),
    by: oneOf(["project"], raw.by),
    columns: text(raw.columns),
    rows: text(raw.rows),
    session: text(raw.session),
    tab: oneOf(DETAIL_TABS, raw.tab),
    launch: text(raw.launch),
    mount: text(raw.mount),
    template: text(raw.template),
    values: texts(raw.values),
    import: importOf(raw.import),
    with: launchLink(raw.with),
  };
  return search;
}

/** Search parameters of a terminal. container: its name in the session; absent: the main one. */
export const terminalSearch = (raw: Record<string, unknown>) => ({ container: text(raw.container) });

export const USER_STATES = ["active", "inactive", "unverified"] as const;
export const USER_ROLES = ["user", "project_admin", "domain_admin", "superadmin"] as const;
export const USER_TABS = ["overview", "sessions", "folders", "keypairs", "logins", "activity"] as const;
export type UserTab = (typeof USER_TABS)[number];

/** Search parameters of the users page. */
export interface UsersSearch extends ListSearch {
  state?: (typeof USER_STATES)[number];
  role?: (typeof USER_ROLES)[number];
  /** Ids of the domain and project filters. */
  domain?: string;
  project?: string;
  /** The user in the open drawer. */
  user?: string;
  tab?: UserTab;
  /** The user in the edit form. */
  edit?: string;
  make?: "one" | "many";
}

export function usersSearch(raw: Record<string, unknown>): UsersSearch {
  return {
    ...listSearch(raw),
    state: oneOf(USER_STATES, raw.state),
    role: oneOf(USER_ROLES, raw.role),
    domain: text(raw.domain),
    project: text(raw.project),
    user: text(raw.user),
    tab: oneOf(USER_TABS, raw.tab),
    edit: text(raw.edit),
    make: oneOf(["one", "many"], raw.make),
  };
}

export const PLACE_TABS = ["overview", "sessions", "folders"] as const;
export type PlaceTab = (typeof PLACE_TABS)[number];

/** Search parameters of the projects and domains pages. */
export interface PlacesSearch extends ListSearch {
  /** Absent: active ones. */
  state?: "off" | "all";
  domain?: string;
  /** The item in the open drawer. */
  open?: string;
  tab?: PlaceTab;
  edit?: string;
  make?: "one";
}

export function placesSearch(raw: Record<string, unknown>): PlacesSearch {
  return {
    ...listSearch(raw),
    state: oneOf(["off", "all"], raw.state),
    domain: text(raw.domain),
    open: text(raw.open),
    tab: oneOf(PLACE_TABS, raw.tab),
    edit: text(raw.edit),
    make: oneOf(["one"], raw.make),
  };
}

const AUDIT_SPANS = [...SPANS, "custom"] as const;
export type AuditSpan = (typeof AUDIT_SPANS)[number];

/** Search parameters of the audit trail. */
export interface AuditSearch {
  q?: string;
  from?: string;
  to?: string;
  /** A period that ends now; "custom": `from` and `to`. */
  span?: AuditSpan;
  actor?: string;
  action?: string;
  object_kind?: string;
  object_id?: string;
  outcome?: "done" | "refused";
  address?: string;
  /** The entry in the open drawer. */
  open?: string;
}

export function auditSearch(raw: Record<string, unknown>): AuditSearch {
  return {
    q: text(raw.q),
    from: text(raw.from),
    to: text(raw.to),
    span: oneOf(AUDIT_SPANS, raw.span),
    actor: text(raw.actor),
    action: text(raw.action),
    object_kind: text(raw.object_kind),
    object_id: text(raw.object_id),
    outcome: oneOf(["done", "refused"], raw.outcome),
    address: text(raw.address),
    open: text(raw.open),
  };
}

/**
 * Search parameters of a list of the user's own items, with its form: for a new item, or the one with this
 * id.
 */
export interface OwnListSearch extends ListSearch {
  form?: string;
}

export function ownListSearch(raw: Record<string, unknown>): OwnListSearch {
  return { ...listSearch(raw), form: text(raw.form) };
}

/** Search parameters of the user's own activity. */
export interface ActivitySearch {
  q?: string;
  /** Object type, such as "session". */
  kind?: string;
  outcome?: "done" | "refused";
  span?: ActivitySpan;
}

export function activitySearch(raw: Record<string, unknown>): ActivitySearch {
  return {
    q: text(raw.q),
    kind: text(raw.kind),
    outcome: oneOf(["done", "refused"], raw.outcome),
    span: oneOf(SPANS, raw.span),
  };
}

export const NODE_STATES = ["READY", "DOWN"] as const;
export const NODE_TABS = ["overview", "sessions", "images"] as const;
export type NodeTab = (typeof NODE_TABS)[number];

/** Search parameters of a list of nodes. */
export interface NodesSearch extends ListSearch {
  /** Id of the resource group filter. */
  group?: string;
  /** A label selector. */
  labels?: string;
  state?: (typeof NODE_STATES)[number];
  cordoned?: "yes" | "no";
  /** Absent: the table. */
  view?: "map";
  /** The resource that colours the map; absent: the scarcest on each node. */
  by?: string;
  /** The node in the open drawer. */
  open?: string;
  tab?: NodeTab;
  /** The node in the edit form or the drain dialog. */
  edit?: string;
  drain?: string;
}

export function nodesSearch(raw: Record<string, unknown>): NodesSearch {
  return {
    ...listSearch(raw),
    group: text(raw.group),
    labels: text(raw.labels),
    state: oneOf(NODE_STATES, raw.state),
    cordoned: oneOf(["yes", "no"], raw.cordoned),
    view: oneOf(["map"], raw.view),
    by: text(raw.by),
    open: text(raw.open),
    tab: oneOf(NODE_TABS, raw.tab),
    edit: text(raw.edit),
    drain: text(raw.drain),
  };
}

/** Search parameters of the accelerators. */
export interface DevicesSearch extends ListSearch {
  /** Absent: the heat map. */
  view?: "table" | "fragmentation";
  family?: string;
  /** Id of the resource group filter. */
  group?: string;
}

export function devicesSearch(raw: Record<string, unknown>): DevicesSearch {
  return {
    ...listSearch(raw),
    view: oneOf(["table", "fragmentation"], raw.view),
    family: text(raw.family),
    group: text(raw.group),
  };
}

export const GROUP_TABS = ["overview", "sessions", "access", "weights"] as const;
export type GroupTab = (typeof GROUP_TABS)[number];

/** Search parameters of the resource groups page. */
export interface GroupsSearch extends Omit<PlacesSearch, "tab"> {
  tab?: GroupTab;
}

export function groupsSearch(raw: Record<string, unknown>): GroupsSearch {
  return { ...placesSearch(raw), tab: oneOf(GROUP_TABS, raw.tab) };
}

/** Search parameters of the catalogue of apps: whose, and form. */
export interface AppTemplatesSearch extends ListSearch {
  scope?: "person" | "project" | "installation" | "builtin";
  /** "new", the app template to edit, or "copy:" and the one to copy. */
  form?: string;
}

/** Search parameters of the templates. open: the one to start; form: "new", or the one to edit. */
export interface TemplatesSearch extends ListSearch {
  owner?: "me" | "all";
  project?: string;
  open?: string;
  form?: string;
}

export function appTemplatesSearch(raw: Record<string, unknown>): AppTemplatesSearch {
  return {
    ...listSearch(raw),
    scope: oneOf(["person", "project", "installation", "builtin"], raw.scope),
    form: text(raw.form),
  };
}

export function templatesSearch(raw: Record<string, unknown>): TemplatesSearch {
  return {
    ...listSearch(raw),
    owner: oneOf(["me", "all"], raw.owner),
    project: text(raw.project),
    open: text(raw.open),
    form: text(raw.form),
  };
}

/** Search parameters of the user's environments. open: the one whose details are shown. */
export interface EnvironmentsSearch extends ListSearch {
  owner?: "me" | "all";
  open?: string;
}

export function environmentsSearch(raw: Record<string, unknown>): EnvironmentsSearch {
  return { ...listSearch(raw), owner: oneOf(["me", "all"], raw.owner), open: text(raw.open) };
}

/** Search parameters of the presets: group filter and form. */
export interface PresetsSearch extends OwnListSearch {
  group?: string;
}

export function presetsSearch(raw: Record<string, unknown>): PresetsSearch {
  return { ...ownListSearch(raw), group: text(raw.group) };
}

export const POLICY_KINDS = ["keypair", "user", "project"] as const;

/** Search parameters of the resource policies: kind and form. */
export interface PoliciesSearch extends OwnListSearch {
  /** Absent: keypair policies. */
  kind?: (typeof POLICY_KINDS)[number];
  /** The policy in the open drawer. */
  open?: string;
}

export function policiesSearch(raw: Record<string, unknown>): PoliciesSearch {
  return { ...ownListSearch(raw), kind: oneOf(POLICY_KINDS, raw.kind), open: text(raw.open) };
}

export const FOLDER_LISTS = ["project", "shared", "invitations", "trash"] as const;
export type FolderListName = (typeof FOLDER_LISTS)[number];
export const FOLDER_TABS = ["overview", "sharing", "access", "sessions", "tasks"] as const;
export type FolderTab = (typeof FOLDER_TABS)[number];
export const FOLDER_ACTS = ["clone", "move", "hand-over"] as const;
export type FolderAct = (typeof FOLDER_ACTS)[number];
export const USAGE_MODES = ["general", "model", "data"] as const;

/** Search parameters of a list of folders. */
export interface FoldersSearch extends ListSearch {
  /** Absent: the user's own. */
  list?: FolderListName;
  /** Names of the storage host, domain and project filters. */
  host?: string;
  domain?: string;
  project?: string;
  mode?: (typeof USAGE_MODES)[number];
  auto?: "yes" | "no";
  /** E-mail of the owner, for administrators. */
  owner?: string;
  /** The folder in the open drawer. */
  open?: string;
  tab?: FolderTab;
  make?: "one";
  /** The dialog that is open for the folder `on`. */
  act?: FolderAct;
  on?: string;
}

export function foldersSearch(raw: Record<string, unknown>): FoldersSearch {
  return {
    ...listSearch(raw),
    list: oneOf(FOLDER_LISTS, raw.list),
    host: text(raw.host),
    domain: text(raw.domain),
    project: text(raw.project),
    mode: oneOf(USAGE_MODES, raw.mode),
    auto: oneOf(["yes", "no"], raw.auto),
    owner: text(raw.owner),
    open: text(raw.open),
    tab: oneOf(FOLDER_TABS, raw.tab),
    make: oneOf(["one"], raw.make),
    act: oneOf(FOLDER_ACTS, raw.act),
    on: text(raw.on),
  };
}

/** Search parameters of the file browser. */
export interface FilesSearch {
  /** The directory, relative to the folder; absent: the folder itself. */
  path?: string;
  /** Search text below the directory. */
  q?: string;
  sort?: "name" | "size" | "modified";
  order?: "asc" | "desc";
  /** Path of the file in the preview; and whether it is being edited. */
  file?: string;
  edit?: "yes";
  /** Whether the sharing of the folder is open. */
  share?: "yes";
}

export function explorerSearch(raw: Record<string, unknown>): FilesSearch {
  return {
    path: text(raw.path),
    q: text(raw.q),
    sort: oneOf(["name", "size", "modified"], raw.sort),
    order: oneOf(["asc", "desc"], raw.order),
    file: text(raw.file),
    edit: oneOf(["yes"], raw.edit),
    share: oneOf(["yes"], raw.share),
  };
}

/** Search parameters of the storage hosts. */
export interface HostsSearch extends OwnListSearch {
  /** The host in the open drawer. */
  open?: string;
}

export function hostsSearch(raw: Record<string, unknown>): HostsSearch {
  return { ...ownListSearch(raw), open: text(raw.open) };
}

/** Search parameters of the registries. */
export interface RegistriesSearch extends OwnListSearch {
  /** The registry in the open drawer. */
  open?: string;
}

export function registriesSearch(raw: Record<string, unknown>): RegistriesSearch {
  return { ...ownListSearch(raw), open: text(raw.open) };
}

const IMAGE_STATES = ["enabled", "disabled", "hidden", "deprecated", "limited", "watched", "update"] as const;

/** Search parameters of the catalogue of images. */
export interface ImagesSearch extends OwnListSearch {
  /** The image in the open drawer. */
  open?: string;
  family?: string;
  /** Id of the registry that was scanned. */
  registry?: string;
  state?: (typeof IMAGE_STATES)[number];
}

export function imagesSearch(raw: Record<string, unknown>): ImagesSearch {
  return {
    ...ownListSearch(raw),
    open: text(raw.open),
    family: text(raw.family),
    registry: text(raw.registry),
    state: oneOf(IMAGE_STATES, raw.state),
  };
}

/** Search parameters of the quota list. */
export interface QuotasSearch extends ListSearch {
  kind?: "user" | "project";
}

export function quotasSearch(raw: Record<string, unknown>): QuotasSearch {
  return { ...listSearch(raw), kind: oneOf(["user", "project"], raw.kind) };
}

/** Search parameters of the scheduler page. */
export interface SchedulerSearch extends ListSearch {
  /** Name of the resource group; absent: the default one. */
  group?: string;
  /** Absent: the queue. */
  view?: "shares";
}

export function schedulerSearch(raw: Record<string, unknown>): SchedulerSearch {
  return { ...listSearch(raw), group: text(raw.group), view: oneOf(["shares"], raw.view) };
}

/** Search parameters of the recurring runs. */
export interface SchedulesSearch extends OwnListSearch {
  /** Absent: the user's own. */
  owner?: "all";
  /** The schedule in the open drawer. */
  open?: string;
}

export function schedulesSearch(raw: Record<string, unknown>): SchedulesSearch {
  return { ...ownListSearch(raw), owner: oneOf(["all"], raw.owner), open: text(raw.open) };
}

/** Search parameters of the dashboard. */
export interface DashboardSearch {
  /** Name of the resource group; absent: the user's first. */
  group?: string;
}

export const dashboardSearch = (raw: Record<string, unknown>): DashboardSearch => ({
  group: text(raw.group),
});

/** Search parameters of the statistics. */
export interface StatisticsSearch {
  /** Absent: the user's own sessions. */
  scope?: (typeof STATISTICS_SCOPES)[number];
  /** Id of the domain, project, group or user. */
  ref?: string;
  /** Absent: by project. */
  by?: (typeof STATISTICS_BY)[number];
  /** "2026-01"; absent: this month. */
  month?: string;
}

const STATISTICS_SCOPES = ["site", "domain", "project", "group", "user"] as const;
const STATISTICS_BY = ["domain", "project", "user", "group", "image"] as const;

export function statisticsSearch(raw: Record<string, unknown>): StatisticsSearch {
  const month = text(raw.month);
  return {
    scope: oneOf(STATISTICS_SCOPES, raw.scope),
    ref: text(raw.ref),
    by: oneOf(STATISTICS_BY, raw.by),
    month: month && /^\d{4}-(0[1-9]|1[0-2])$/.test(month) ? month : undefined,
  };
}

/** Search parameters of the sign-in page. */
export interface SignInSearch {
  /** The URL to open afterwards, if it is same-origin. */
  next?: string;
  /** The error code of a failed provider sign-in. */
  error?: string;
  provider?: string;
}

export function signInSearch(raw: Record<string, unknown>): SignInSearch {
  return { next: ownAddress(text(raw.next)), error: text(raw.error), provider: text(raw.provider) };
}

const HERE = "http://page.invalid";

/** The address if it is same-origin; prevents open redirects. */
function ownAddress(address: string | undefined): string | undefined {
  if (!address?.startsWith("/")) return undefined;
  try {
    // Parse as browsers do: they treat \ as /, and drop tabs and line breaks.
    const { origin, pathname, search, hash } = new URL(address, HERE);
    return origin === HERE && !pathname.startsWith("//") ? `${pathname}${search}${hash}` : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The URL of a drawer on the sessions page: over the current list, or over the default one from other pages.
 */
export function overSessions(now: ListSearch, part: SessionsSearch): SessionsSearch {
  return location.pathname === "/sessions" ? { ...now, ...part } : part;
}
