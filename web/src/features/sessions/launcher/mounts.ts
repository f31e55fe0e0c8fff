import type { Mount, MountRequest } from "@/api/types";

/** One folder of the launcher's form. */
export interface MountRow {
  /** Only for the page: keeps a row's fields together while rows come and go. */
  key: string;
  /** Id of the folder; "" while none is chosen. */
  folder: string;
  name: string;
  /** "" for /home/work/NAME. */
  path: string;
  subpath: string;
  readOnly: boolean;
}

const HOME = "/home/work";
const PATH = /^\/?[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)*\/?$/;

let rows = 0;
export const freshMount = (): MountRow => ({
  key: `mount-${++rows}`,
  folder: "",
  name: "",
  path: "",
  subpath: "",
  readOnly: false,
});

/** The row that mounts a folder as a session had it. */
export const mountRow = (mount: Mount): MountRow => ({
  ...freshMount(),
  folder: mount.folder_id ?? "",
  name: mount.folder_name,
  path: mount.path === `${HOME}/${mount.folder_name}` ? "" : mount.path,
  subpath: mount.subpath,
  readOnly: mount.read_only,
});

/** Where in the session a row's folder is: a relative path is below the home directory. */
export function targetOf({ path, name }: Pick<MountRow, "path" | "name">): string {
  const written = (path || name).replace(/\/+$/, "");
  return written.startsWith("/") ? written : `${HOME}/${written}`;
}

export type MountFault = "none" | "path" | "home" | "overlap";

/** What is wrong with one row; what only the server knows is for it to say. */
export function mountFault(all: readonly MountRow[], index: number): MountFault | null {
  const row = all[index];
  if (!row) return null;
  if (row.folder === "") return "none";
  if (
    row.path !== "" &&
    (!PATH.test(row.path) || row.path.split("/").some((one) => one === "." || one === ".."))
  )
    return "path";
  const target = targetOf(row);
  if (target === HOME) return "home";
  const touches = (other: string) =>
    other === target || other.startsWith(`${target}/`) || target.startsWith(`${other}/`);
  return all.some((other, at) => at < index && other.folder !== "" && touches(targetOf(other)))
    ? "overlap"
    : null;
}

/** What is sent to the server. */
export const toMount = ({ folder, path, subpath, readOnly }: MountRow): MountRequest => ({
  folder,
  ...(path ? { path } : {}),
  ...(subpath ? { subpath } : {}),
  ...(readOnly ? { read_only: true } : {}),
});

/** "data", "data:train:/home/work/data:ro": a mount as the command line takes it. */
export function mountWord({ path, subpath, read_only }: MountRequest, name: string): string {
  const target = path ? targetOf({ path, name }) : "";
  const middle = subpath ? [subpath, ...(target ? [target] : [])] : target ? [target] : [];
  return [name, ...middle, ...(read_only ? ["ro"] : [])].join(":");
}
