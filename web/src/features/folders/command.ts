import type { FolderCreate } from "@/api/types";
import { commandLine } from "@/ui/command";

/** The CLI command that creates the same folder. */
export const createFolderCommand = (request: FolderCreate): string =>
  commandLine(
    "carrel",
    "vfolder",
    "create",
    request.name || "datasets",
    ...(request.host ? ["--host", request.host] : []),
    ...(request.project ? ["--project", request.project] : []),
    ...(request.usage_mode && request.usage_mode !== "general" ? ["--usage-mode", request.usage_mode] : []),
    ...(request.permission && request.permission !== "rw" ? ["--permission", request.permission] : []),
  );

const NAME = /^(?=.{1,64}$)\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*$/;

/** Whether a folder name is valid. */
export const isFolderName = (name: string): boolean => NAME.test(name);
