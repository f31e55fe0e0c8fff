import type { Folder, Mount, MountRequest } from "@/api/types";

/** One mount in the launcher's form. */
export interface MountRow {
  /** React key; not sent to the server. */
  key: string;
  /** Id of the folder; "" if none is selected. */
  folder: string;
  name: string;
  /** "" for /home/work/NAME. */
  path: string;
  subpath: string;
  readOnly: boolean;
}

type NamedFolder = Pick<Folder, "id" | "name">;

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

/** The form row of an existing session's mount. */
export const mountRow = (mount: Mount): MountRow => ({
  ...freshMount(),
  folder: mount.folder_id ?? "",
  name: mount.folder_name,
  path: mount.path === `${HOME}/${mount.folder_name}` ? "" : mount.path,
  subpath: mount.subpath,
  readOnly: mount.read_only,
});

/** The form rows of requested mounts: of the folders that the user has. */
export const mountRows = (mounts: readonly MountRequest[], folders: readonly NamedFolder[]): MountRow[] =>
  mounts.map(({ folder, path, subpath, read_only }) => {
    const found = folders.find(({ id, name }) => id === folder || name === folder);
    return {
      ...freshMount(),
      folder: found?.id ?? "",
      name: found?.name ?? folder,
      path: path ?? "",
      subpath: subpath ?? "",
      readOnly: read_only ?? false,
    };
  });

/** The mount path of a row: a relative path is below the home directory. */
export function targetOf({ path, name }: Pick<MountRow, "path" | "name">): string {
  const written = (path || name).replace(/\/+$/, "");
  return written.startsWith("/") ? written : `${HOME}/${written}`;
}

export type MountFault = "none" | "path" | "home" | "overlap";

/** The error of a row, as far as the page can check. */
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

/** The mount as the API takes it. */
export const toMount = ({ folder, path, subpath, readOnly }: MountRow): MountRequest => ({
  folder,
  ...(path ? { path } : {}),
  ...(subpath ? { subpath } : {}),
  ...(readOnly ? { read_only: true } : {}),
});

/** "data", "data:train:/home/work/data:ro": a mount in CLI syntax. */
export function mountWord({ path, subpath, read_only }: MountRequest, name: string): string {
  const target = path ? targetOf({ path, name }) : "";
  const middle = subpath ? [subpath, ...(target ? [target] : [])] : target ? [target] : [];
  return [name, ...middle, ...(read_only ? ["ro"] : [])].join(":");
}
