import { queryOptions } from "@tanstack/react-query";
import {
  appsCreate,
  appsList,
  appsLogs,
  appsOpen,
  appsRemove,
  appsStart,
  appsStop,
} from "@/api/generated/sdk.gen";
import { retryWhileUnreachable } from "@/api/retry";
import type { SessionApp, SessionAppCreate } from "@/api/types";
import { useChange } from "./use-change";

/** The apps of a session with their states, and why those of the app layer are not among them. */
export function appsListQuery(id: string) {
  return queryOptions({
    queryKey: ["apps", "list", id] as const,
    queryFn: async ({ signal }) => (await appsList({ path: { ref: id }, signal })).data,
  });
}

/** The end of what an app has printed. */
export function appLogQuery(id: string, app: string) {
  return queryOptions({
    queryKey: ["apps", "log", id, app] as const,
    queryFn: async ({ signal }) => (await appsLogs({ path: { ref: id, app }, signal })).data.text,
  });
}

/** The one-time URL of an app; starts the app if needed, which may take seconds. */
export async function openAppAddress(sessionId: string, app: string): Promise<string> {
  const { data } = await retryWhileUnreachable(() => appsOpen({ path: { ref: sessionId, app } }));
  return data.url;
}

const TOUCHED = ["apps"];

type AppRef = { id: string; app: string };

export const useStartApp = () =>
  useChange<AppRef & { options?: Record<string, string> }, SessionApp>(
    async ({ id, app, options }) => (await appsStart({ path: { ref: id, app }, body: { options } })).data,
    TOUCHED,
  );

export const useStopApp = () =>
  useChange<AppRef, SessionApp>(
    async ({ id, app }) => (await appsStop({ path: { ref: id, app } })).data,
    TOUCHED,
  );

/** Adds another app of a kind, or opens a port. */
export const useAddApp = () =>
  useChange<{ id: string } & SessionAppCreate, SessionApp>(
    async ({ id, ...body }) => (await appsCreate({ path: { ref: id }, body })).data,
    TOUCHED,
  );

export const useRemoveApp = () =>
  useChange<AppRef, unknown>(
    async ({ id, app }) => (await appsRemove({ path: { ref: id, app } })).data,
    TOUCHED,
  );
