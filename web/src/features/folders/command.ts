import type { FolderCreate } from "@/api/types";
import { commandLine } from "@/ui/command";

/** The line that makes the same folder. */
export const createFolderCommand = (wanted: FolderCreate): string =>
  commandLine(
    "carrel",
    "vfolder",
    "create",
    wanted.name || "datasets",
    ...(wanted.host ? ["--host", wanted.host] : []),
    ...(wanted.project ? ["--project", wanted.project] : []),
    ...(wanted.usage_mode && wanted.usage_mode !== "general" ? ["--usage-mode", wanted.usage_mode] : []),
    ...(wanted.permission && wanted.permission !== "rw" ? ["--permission", wanted.permission] : []),
  );

const NAME = /^(?=.{1,64}$)\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*$/;

/** Whether a folder can be called so. */
export const isFolderName = (name: string): boolean => NAME.test(name);
