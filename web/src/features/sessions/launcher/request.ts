import type {
  Check,
  CheckRequest,
  DependencyFailure,
  Folder,
  SessionCreate,
  SessionDetail,
  SlotKind,
  SlotRequest,
  Slots,
} from "@/api/types";
import { commandLine } from "@/ui/command";
import { formatArray, readArray } from "./array";
import { type AfterRow, afterFault, afterRows, toDependency } from "./dependencies";
import { freshMount, type MountRow, mountFault, mountRow, toMount } from "./mounts";
import { formRole, type LaunchRole, type RequestRole, roleFault, toRole } from "./roles";
import { type EnvironmentRow, environmentRows, hasVariableFault, toEnvironment } from "./variables";

/** Form fields with the same name in the request, empty; an empty field is omitted. Add new fields here. */
export const BLANK = {
  name: "",
  description: "",
  group: "",
  priority: null,
  time_limit_s: null,
  start_at: "",
  node: "",
  project: "",
  bootstrap: "",
  shm_bytes: null,
  disk_bytes: null,
  workdir: "",
  timezone: "",
  locale: "",
  stop_signal: null,
  grace_s: null,
} as const satisfies Partial<SessionCreate>;

type PlainFields = {
  [Field in keyof typeof BLANK]: NonNullable<SessionCreate[Field]> | (typeof BLANK)[Field];
};

/** The kinds of sessions that the launcher starts. */
export type LaunchKind = NonNullable<SessionCreate["kind"]>;

/**
 * Form values of the launcher. project, group, node: names. start_at: in local time, as its input takes it. script:
 * what a batch session runs, as lines of a shell.
 */
export type LaunchForm = PlainFields & {
  kind: LaunchKind;
  script: string;
  /** As on the command line, "1-100%8"; "" for one session. */
  array: string;
  retries: number;
  /** How many that are alike; those of roles are besides. */
  containers: number;
  placement: NonNullable<SessionCreate["placement"]>;
  /** The level of the group's topology that all of them are within; "": none. */
  topology: string;
  on_failure: NonNullable<SessionCreate["on_failure"]>;
  roles: readonly LaunchRole[];
  rights: NonNullable<SessionCreate["rights"]>;
  /** Names of groups besides `group`, in order of preference. */
  alternative_groups: string[];
  image: string;
  slots: Record<string, number>;
  env: EnvironmentRow[];
  mounts: MountRow[];
  after: AfterRow[];
  on_dependency_failure: DependencyFailure;
};

const GIB = 2 ** 30;

/** The amounts, lowered to the most that can ever start; those that cannot at all are kept, and refused with a reason. */
export function startable(slots: LaunchForm["slots"], room: Check["slots"]): LaunchForm["slots"] {
  return Object.fromEntries(
    Object.entries(slots).map(([slot, amount]) => [slot, Math.min(amount, room[slot]?.most || amount)]),
  );
}

/** The form values of a session that is not a cluster. */
export const ONE_CONTAINER: Pick<
  LaunchForm,
  "containers" | "placement" | "topology" | "on_failure" | "roles"
> = {
  containers: 1,
  placement: "spread",
  topology: "",
  on_failure: "end",
  roles: [],
};

/** The initial form values; with a folder to mount, if given. */
export const freshForm = (image: string, folder?: Pick<Folder, "id" | "name">): LaunchForm => ({
  ...BLANK,
  kind: "interactive",
  script: "",
  array: "",
  retries: 0,
  ...ONE_CONTAINER,
  rights: "plain",
  alternative_groups: [],
  image,
  slots: { cpu: 1000, mem: GIB },
  env: [],
  mounts: folder ? [{ ...freshMount(), folder: folder.id, name: folder.name }] : [],
  after: [],
  on_dependency_failure: "cancel",
});

export const NAME_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9_.-]{2,62}[A-Za-z0-9_]$/;

export function isName(name: string): boolean {
  return NAME_PATTERN.test(name);
}

/** The plain fields that are not empty. */
function given(values: PlainFields): Partial<PlainFields> {
  const fields = Object.keys(BLANK) as (keyof PlainFields)[];
  const entries = fields.map((field) => {
    const value = values[field];
    return [field, typeof value === "string" ? value.trim() : value] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== "" && value !== null));
}

/** Whether the form is a request: no row or name in it is faulty. */
export function isComplete(form: LaunchForm): boolean {
  return (
    form.image.trim() !== "" &&
    (form.kind !== "batch" || form.array.trim() === "" || readArray(form.array) !== null) &&
    form.roles.every(
      ({ variables = [] }, at) => !roleFault(form.roles, at) && !hasVariableFault(variables),
    ) &&
    (form.kind !== "batch" || form.script.trim() !== "") &&
    (form.name === "" || isName(form.name)) &&
    form.mounts.every((_, at) => mountFault(form.mounts, at) === null) &&
    form.after.every((_, at) => !afterFault(form.after, at)) &&
    !hasVariableFault(form.env)
  );
}

/** The part of a request about the sessions that it starts after. */
const dependencies = (after: AfterRow[], failure: DependencyFailure): Partial<SessionCreate> =>
  after.length > 0
    ? { after: after.map(toDependency), ...(failure === "wait" ? { on_dependency_failure: failure } : {}) }
    : {};

/** The request as the API takes it. */
export function toRequest(form: LaunchForm): SessionCreate {
  const array = readArray(form.array);
  return {
    image: form.image.trim(),
    // Missing values are refused by the server, which names the field.
    slots: Object.fromEntries(Object.entries(form.slots).filter(([, amount]) => amount > 0)) as SlotRequest,
    ...given(form),
    ...(form.alternative_groups.length > 0 ? { alternative_groups: form.alternative_groups } : {}),
    ...(form.start_at ? { start_at: new Date(form.start_at).toISOString() } : {}),
    ...(form.kind === "batch" ? { kind: form.kind, command: toCommand(form.script) } : {}),
    ...(form.rights === "root" ? { rights: form.rights } : {}),
    ...(form.kind === "batch" && form.retries ? { retries: form.retries } : {}),
    ...(form.kind === "batch" && array ? { array } : {}),
    ...toCluster({ ...form, roles: form.roles.map(toRole) }),
    ...toEnvironment(form.env),
    ...(form.mounts.length > 0 ? { mounts: form.mounts.map(toMount) } : {}),
    ...dependencies(form.after, form.on_dependency_failure),
  };
}

/** The fields of a cluster session that are not the default. */
function toCluster(
  form: Pick<LaunchForm, "containers" | "placement" | "topology" | "on_failure"> & { roles: RequestRole[] },
): Partial<SessionCreate> {
  if (form.containers < 2 && form.roles.length === 0) return {};
  return {
    ...(form.roles.length > 0 ? { roles: form.roles } : { containers: form.containers }),
    ...(form.placement === ONE_CONTAINER.placement ? {} : { placement: form.placement }),
    ...(form.topology ? { topology: form.topology } : {}),
    ...(form.on_failure === ONE_CONTAINER.on_failure ? {} : { on_failure: form.on_failure }),
  };
}

export const SHELL = ["/bin/sh", "-c"];

/** The command that runs lines of a shell. */
const toCommand = (script: string): string[] => (script.trim() ? [...SHELL, script.trim()] : []);

/** Lines of a shell that do the same as a command. */
export function toScript(command: string[]): string {
  const [shell, option, script, ...rest] = command;
  const isScript = (shell === "sh" || shell === SHELL[0]) && option === SHELL[1] && rest.length === 0;
  return isScript ? (script ?? "") : commandLine(...command);
}

/** The request with the names of its folders instead of their ids. */
export function named(request: SessionCreate, folderName: (id: string) => string): SessionCreate {
  const mounts = request.mounts?.map((mount) => ({ ...mount, folder: folderName(mount.folder) }));
  return { ...request, ...(mounts ? { mounts } : {}) };
}

/** The request for an estimate: only the fields that the scheduler uses. */
export function toCheck(form: LaunchForm): CheckRequest {
  // Omit incomplete rows; the form itself shows their errors.
  const mounts = form.mounts.filter((_, at) => mountFault(form.mounts, at) === null);
  const after = form.after.filter((_, at) => !afterFault(form.after, at));
  const {
    image,
    name,
    description,
    env,
    command,
    retries,
    on_failure,
    bootstrap,
    shm_bytes,
    workdir,
    timezone,
    locale,
    stop_signal,
    grace_s,
    ...spec
  } = toRequest({ ...form, mounts, after });
  return { ...spec, ...(image ? { image } : {}) };
}

/** The request for a session like this one, without its name, which may still be in use. */
export function requestLike(session: SessionDetail): SessionCreate {
  const { priority } = session;
  const [group, ...others] = session.accepted_groups;
  return {
    image: session.image_name ?? session.image,
    slots: session.slots as SlotRequest,
    ...given({
      ...session,
      name: "",
      start_at: "",
      node: "",
      bootstrap: session.bootstrap === HIDDEN ? "" : session.bootstrap,
      workdir: session.workdir ?? "",
      timezone: session.timezone ?? "",
      locale: session.locale ?? "",
      stop_signal: session.stop_signal === USUAL_SIGNAL ? null : session.stop_signal,
      grace_s: session.grace_s === USUAL_GRACE_S ? null : session.grace_s,
      project: session.project.name,
      group: !group || (group.id === DEFAULT_GROUP && others.length === 0) ? "" : group.name,
      priority: priority === USUAL_PRIORITY ? null : priority,
    }),
    ...(others.length > 0 ? { alternative_groups: others.map(({ name }) => name) } : {}),
    ...(session.kind === "batch" ? { kind: session.kind, command: session.command } : {}),
    ...(session.rights === "root" ? { rights: session.rights } : {}),
    ...(session.retries ? { retries: session.retries } : {}),
    ...arrayOf(session),
    ...toCluster({
      ...session,
      roles: session.roles as RequestRole[],
      containers: session.cluster_size,
      topology: session.topology ?? "",
    }),
    ...(Object.keys(session.env).length > 0 ? { env: session.env } : {}),
    ...(chosenMounts(session).length > 0 ? { mounts: chosenMounts(session).map(toMount) } : {}),
    ...dependencies(afterRows(session), session.on_dependency_failure),
  };
}

/** The reference of what a session's main container ran, whatever its tag means now; null: not known. */
export function exactImage({ containers }: Pick<SessionDetail, "containers">): string | null {
  const main = containers[0];
  return main?.image_digest ? `${main.image.split("@")[0]}@${main.image_digest}` : null;
}

/** That of the array of a session. */
function arrayOf({ array }: Pick<SessionDetail, "array">): Pick<SessionCreate, "array"> {
  if (!array) return {};
  const { first, last, max_parallel } = array;
  return { array: { first, last, ...(max_parallel ? { max_parallel } : {}) } };
}

/** The form values for a session like this one. */
export const formLike = (session: SessionDetail): LaunchForm =>
  formOf(requestLike(session), chosenMounts(session), afterRows(session));

/** The form values of a request, with rows for its folders and dependencies. */
export function formOf(request: SessionCreate, mounts: MountRow[], after: AfterRow[]): LaunchForm {
  const { image, slots, env = {}, mounts: _, after: __, kind, command, retries, rights, ...others } = request;
  const { on_dependency_failure, containers, placement, topology, on_failure, roles, array, ...more } =
    others;
  const { alternative_groups, ...plain } = more;
  return {
    ...freshForm(image),
    ...(plain as Partial<PlainFields>),
    kind: kind ?? "interactive",
    script: toScript(command ?? []),
    retries: retries ?? 0,
    array: formatArray(array),
    containers: containers ?? 1,
    placement: placement ?? ONE_CONTAINER.placement,
    topology: topology ?? "",
    on_failure: on_failure ?? ONE_CONTAINER.on_failure,
    roles: (roles ?? []).map(formRole),
    rights: rights ?? "plain",
    alternative_groups: [...(alternative_groups ?? [])],
    slots: { ...slots } as Record<string, number>,
    env: environmentRows(env),
    mounts,
    after,
    on_dependency_failure: on_dependency_failure ?? "cancel",
  };
}

/** Folders that the user mounted and that still exist. */
const chosenMounts = (session: SessionDetail): MountRow[] =>
  session.mounts.filter(({ automatic, folder_id }) => !automatic && folder_id).map(mountRow);

export const USUAL_PRIORITY = 50;
const USUAL_SIGNAL = "SIGTERM";
const USUAL_GRACE_S = 10;
const DEFAULT_GROUP = "default";
/** What others see of the owner's script. */
const HIDDEN = "********";

/** The slots with one amount changed; slots of the same devices exclude each other. */
export function withSlot(
  slots: Slots,
  slot: string,
  amount: number,
  kinds: readonly Pick<SlotKind, "name" | "family">[],
): Record<string, number> {
  const familyOf = (name: string) => kinds.find((kind) => kind.name === name)?.family ?? null;
  const family = familyOf(slot);
  const others = Object.entries(slots).filter(
    ([other]) => other !== slot && !(amount > 0 && family !== null && familyOf(other) === family),
  );
  return { ...Object.fromEntries(others), [slot]: amount };
}

/** Whether both request the same; zero amounts are ignored. */
export function sameSlots(one: Slots, other: Slots): boolean {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every(
    (slot) => (one[slot] ?? 0) === (other[slot] ?? 0),
  );
}
