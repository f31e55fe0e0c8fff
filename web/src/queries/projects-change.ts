import {
  projectsArchive,
  projectsCreate,
  projectsRemove,
  projectsRestore,
  projectsUpdate,
} from "@/api/generated/sdk.gen";
import type { ProjectCreate, ProjectUpdate, WholeProject } from "@/api/types";
import { useChange } from "./use-change";

const TOUCHED = ["projects", "domains", "users", "auth"];

export const useCreateProject = () =>
  useChange<ProjectCreate, WholeProject>(async (body) => (await projectsCreate({ body })).data, TOUCHED);

export const useUpdateProject = () =>
  useChange<{ id: string } & ProjectUpdate, WholeProject>(
    async ({ id, ...body }) => (await projectsUpdate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

/** Takes no new sessions in a project. `sessions`: what becomes of its live ones. */
export const useArchiveProject = () =>
  useChange<{ id: string; sessions: "keep" | "end" | null }, WholeProject>(
    async ({ id, sessions }) => (await projectsArchive({ path: { ref: id }, body: { sessions } })).data,
    [...TOUCHED, "sessions"],
  );

export const useRestoreProject = () =>
  useChange<string, WholeProject>(async (id) => (await projectsRestore({ path: { ref: id } })).data, TOUCHED);

export const useRemoveProject = () =>
  useChange<string, unknown>(async (id) => (await projectsRemove({ path: { ref: id } })).data, TOUCHED);
