import type { SessionFilter } from "@/cache/patch";
import { SPANS, type Span } from "./activity-span";

export const DETAIL_TABS = ["overview", "history", "logs", "apps", "usage", "environment"] as const;
export type DetailTab = (typeof DETAIL_TABS)[number];

/** What a link to any list carries: what is searched for, and the order. */
export interface ListSearch {
  q?: string;
  /** The key of a column; one that the list does not have leaves it unsorted. */
  sort?: string;
  order?: "asc" | "desc";
}

/** Everything about the sessions page that a link to it carries. */
export interface SessionsSearch extends ListSearch {
  state?: SessionFilter["state"];
  owner?: SessionFilter["owner"];
  /** The name of the project whose sessions are listed. */
  project?: string;
  /** The session in the open drawer. */
  session?: string;
  tab?: DetailTab;
  /** The launcher is open: "new", or the id of the session whose settings it starts with. */
  launch?: string;
}

const STATES = ["live", "ended", "all", "PENDING", "RUNNING", "ERROR"] as const;

function oneOf<T extends string>(allowed: readonly T[], value: unknown): T | undefined {
  return allowed.find((one) => one === value);
}

const text = (value: unknown): string | undefined =>
  (typeof value === "string" || typeof value === "number") && value !== "" ? String(value) : undefined;

/** The part of an address that every list understands. */
export function listSearch(raw: Record<string, unknown>): ListSearch {
  return { q: text(raw.q), sort: text(raw.sort), order: oneOf(["asc", "desc"], raw.order) };
}

export function sessionsSearch(raw: Record<string, unknown>): SessionsSearch {
  // What is wrong is named as undefined and not left out: the router lays this over the raw address.
  const search: SessionsSearch = {
    ...listSearch(raw),
    state: oneOf(STATES, raw.state),
    owner: text(raw.owner),
    project: text(raw.project),
    session: text(raw.session),
    tab: oneOf(DETAIL_TABS, raw.tab),
    launch: text(raw.launch),
  };
  return search;
}

export const USER_STATES = ["active", "inactive", "unverified"] as const;
export const USER_ROLES = ["user", "project_admin", "domain_admin", "superadmin"] as const;
export const USER_TABS = ["overview", "keypairs", "logins", "activity"] as const;
export type UserTab = (typeof USER_TABS)[number];

/** Everything about the users page that a link to it carries. */
export interface UsersSearch extends ListSearch {
  state?: (typeof USER_STATES)[number];
  role?: (typeof USER_ROLES)[number];
  /** Id of the domain, of the project, whose people are listed. */
  domain?: string;
  project?: string;
  /** The user in the open drawer. */
  user?: string;
  tab?: UserTab;
  /** The user who is being changed. */
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

/** Everything about the projects page, and that of domains, that a link carries. */
export interface PlacesSearch extends ListSearch {
  /** Left out: those in use. */
  state?: "off" | "all";
  domain?: string;
  /** The one in the open drawer. */
  open?: string;
  edit?: string;
  make?: "one";
}

export function placesSearch(raw: Record<string, unknown>): PlacesSearch {
  return {
    ...listSearch(raw),
    state: oneOf(["off", "all"], raw.state),
    domain: text(raw.domain),
    open: text(raw.open),
    edit: text(raw.edit),
    make: oneOf(["one"], raw.make),
  };
}

/** Which entries of the audit trail a link shows. */
export interface AuditSearch {
  q?: string;
  from?: string;
  to?: string;
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
    actor: text(raw.actor),
    action: text(raw.action),
    object_kind: text(raw.object_kind),
    object_id: text(raw.object_id),
    outcome: oneOf(["done", "refused"], raw.outcome),
    address: text(raw.address),
    open: text(raw.open),
  };
}

/** What a link to a list of one's own things carries besides: its form, for a new one or the one of this id. */
export interface OwnListSearch extends ListSearch {
  form?: string;
}

export function ownListSearch(raw: Record<string, unknown>): OwnListSearch {
  return { ...listSearch(raw), form: text(raw.form) };
}

/** What a link to one's own activity carries. */
export interface ActivitySearch {
  q?: string;
  /** What it is about, such as "session". */
  kind?: string;
  outcome?: "done" | "refused";
  span?: Span;
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

/** Everything about a list of nodes that a link carries. */
export interface NodesSearch extends ListSearch {
  /** Id of the resource group whose nodes are listed. */
  group?: string;
  state?: (typeof NODE_STATES)[number];
  cordoned?: "yes" | "no";
  /** Left out: the table. */
  view?: "map";
  /** What the map is coloured by; left out: what is the scarcest on each node. */
  by?: string;
  /** The node in the open drawer. */
  open?: string;
  tab?: NodeTab;
  /** The node that is being changed, that is to be emptied. */
  edit?: string;
  drain?: string;
}

export function nodesSearch(raw: Record<string, unknown>): NodesSearch {
  return {
    ...listSearch(raw),
    group: text(raw.group),
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

export const GROUP_TABS = ["overview", "access", "weights"] as const;
export type GroupTab = (typeof GROUP_TABS)[number];

/** Everything about the page of resource groups that a link carries. */
export interface GroupsSearch extends PlacesSearch {
  tab?: GroupTab;
}

export function groupsSearch(raw: Record<string, unknown>): GroupsSearch {
  return { ...placesSearch(raw), tab: oneOf(GROUP_TABS, raw.tab) };
}

/** What a link to the presets carries: the group whose presets are listed, and the form. */
export interface PresetsSearch extends OwnListSearch {
  group?: string;
}

export function presetsSearch(raw: Record<string, unknown>): PresetsSearch {
  return { ...ownListSearch(raw), group: text(raw.group) };
}

export const POLICY_KINDS = ["keypair", "user", "project"] as const;

/** What a link to the resource policies carries: those of which kind, and the form. */
export interface PoliciesSearch extends OwnListSearch {
  /** Left out: those of keypairs. */
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

/** Everything about a list of folders that a link carries. */
export interface FoldersSearch extends ListSearch {
  /** Left out: one's own. */
  list?: FolderListName;
  /** Name of the storage host, of the project. */
  host?: string;
  project?: string;
  mode?: (typeof USAGE_MODES)[number];
  auto?: "yes" | "no";
  /** E-mail of the owner, for administrators. */
  owner?: string;
  /** The folder in the open drawer. */
  open?: string;
  tab?: FolderTab;
  make?: "one";
  /** What is asked about the folder `on`. */
  act?: FolderAct;
  on?: string;
}

export function foldersSearch(raw: Record<string, unknown>): FoldersSearch {
  return {
    ...listSearch(raw),
    list: oneOf(FOLDER_LISTS, raw.list),
    host: text(raw.host),
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

/** Everything about the files of a folder that a link carries. */
export interface FilesSearch {
  /** The directory, relative to the folder; left out: the folder itself. */
  path?: string;
  /** Part of a name that is looked for below it. */
  q?: string;
  sort?: "name" | "size" | "modified";
  order?: "asc" | "desc";
  /** Path of the file in the preview; and whether it is being changed. */
  file?: string;
  edit?: "yes";
}

export function filesSearch(raw: Record<string, unknown>): FilesSearch {
  return {
    path: text(raw.path),
    q: text(raw.q),
    sort: oneOf(["name", "size", "modified"], raw.sort),
    order: oneOf(["asc", "desc"], raw.order),
    file: text(raw.file),
    edit: oneOf(["yes"], raw.edit),
  };
}

/** What a link to the storage hosts carries. */
export interface HostsSearch extends OwnListSearch {
  /** The host in the open drawer. */
  open?: string;
}

export function hostsSearch(raw: Record<string, unknown>): HostsSearch {
  return { ...ownListSearch(raw), open: text(raw.open) };
}

/** What a link to the list of quotas carries. */
export interface QuotasSearch extends ListSearch {
  kind?: "user" | "project";
}

export function quotasSearch(raw: Record<string, unknown>): QuotasSearch {
  return { ...listSearch(raw), kind: oneOf(["user", "project"], raw.kind) };
}

/** What a link to the scheduler's page carries. */
export interface SchedulerSearch extends ListSearch {
  /** The name of the resource group; left out: the default one. */
  group?: string;
  /** Left out: the queue. */
  view?: "shares";
}

export function schedulerSearch(raw: Record<string, unknown>): SchedulerSearch {
  return { ...listSearch(raw), group: text(raw.group), view: oneOf(["shares"], raw.view) };
}

/** What a link to the dashboard carries. */
export interface DashboardSearch {
  /** The name of the resource group; left out: the first that one may use. */
  group?: string;
}

export const dashboardSearch = (raw: Record<string, unknown>): DashboardSearch => ({
  group: text(raw.group),
});

/** What a link to the sign-in page carries. */
export interface SignInSearch {
  /** The address to go to afterwards, if it is one of ours. */
  next?: string;
  /** The code of why signing in at a provider failed. */
  error?: string;
  provider?: string;
}

export function signInSearch(raw: Record<string, unknown>): SignInSearch {
  return { next: ownAddress(text(raw.next)), error: text(raw.error), provider: text(raw.provider) };
}

const HERE = "http://page.invalid";

/** The address when a browser would stay on these pages with it. */
function ownAddress(address: string | undefined): string | undefined {
  if (!address?.startsWith("/")) return undefined;
  try {
    // As browsers read it: they take \\ for /, and leave tabs and line ends out.
    const { origin, pathname, search, hash } = new URL(address, HERE);
    return origin === HERE && !pathname.startsWith("//") ? `${pathname}${search}${hash}` : undefined;
  } catch {
    return undefined;
  }
}

/** The address of a drawer on the sessions page: over the list as it is, or over the usual one from elsewhere. */
export function overSessions(now: ListSearch, part: SessionsSearch): SessionsSearch {
  return location.pathname === "/sessions" ? { ...now, ...part } : part;
}
