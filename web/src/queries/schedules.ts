import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import {
  definitionsRead,
  definitionsWrite,
  schedulesCreate,
  schedulesList,
  schedulesPause,
  schedulesRemove,
  schedulesResume,
  schedulesRun,
  schedulesRuns,
  schedulesShow,
  schedulesTimes,
  schedulesUpdate,
} from "@/api/generated/sdk.gen";
import type { SchedulesListData } from "@/api/generated/types.gen";
import type { Schedule, ScheduleCreate, ScheduleRun, SessionCreate } from "@/api/types";
import { everyPage } from "./every-page";
import { useChange } from "./use-change";

const PAGE = 50;
const TOUCHED = ["schedules"];

export type ScheduleFilter = Pick<NonNullable<SchedulesListData["query"]>, "q" | "owner" | "sort">;

/** Schedules of recurring sessions, paginated, in server order. */
export function schedulesListQuery(filter: ScheduleFilter) {
  return infiniteQueryOptions({
    queryKey: ["schedules", "list", filter] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await schedulesList({ query: { ...filter, limit: PAGE, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** All schedules that match the filter. */
export const everySchedule = (filter: ScheduleFilter): Promise<Schedule[]> =>
  everyPage((cursor) => schedulesList({ query: { ...filter, limit: 200, cursor } }));

/** One schedule. */
export function schedulesShowQuery(id: string) {
  return queryOptions({
    queryKey: ["schedules", "show", id] as const,
    queryFn: async ({ signal }) => (await schedulesShow({ path: { ref: id }, signal })).data,
  });
}

/** The runs of a schedule, newest first, paginated. */
export function schedulesRunsQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ["schedules", "runs", id] as const,
    queryFn: async ({ pageParam, signal }) =>
      (await schedulesRuns({ path: { ref: id }, query: { limit: PAGE, cursor: pageParam }, signal })).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** The next times of a cron expression. Keeps the previous ones until they arrive. */
export function schedulesTimesQuery(cron: string, timezone: string) {
  return queryOptions({
    queryKey: ["schedule-times", cron, timezone] as const,
    queryFn: async ({ signal }) => (await schedulesTimes({ query: { cron, timezone }, signal })).data.items,
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** A schedule as its form sends it. id: of the one to change. text: the definition of its sessions in YAML. */
type SavedSchedule = Omit<ScheduleCreate, "session"> & { id: string | undefined; text: string };

/** Creates a schedule, or changes one. */
export const useSaveSchedule = () =>
  useChange<SavedSchedule, Schedule>(async ({ id, text, ...body }) => {
    const whole = { ...body, session: await readDefinition(text) };
    if (!id) return (await schedulesCreate({ body: whole })).data;
    return (await schedulesUpdate({ path: { ref: id }, body: whole })).data;
  }, TOUCHED);

/** Pauses or resumes a schedule. */
export const useSetScheduleActive = () =>
  useChange<{ id: string; active: boolean }, Schedule>(
    async ({ id, active }) => (await (active ? schedulesResume : schedulesPause)({ path: { ref: id } })).data,
    TOUCHED,
  );

export const useRunSchedule = () =>
  useChange<string, ScheduleRun>(
    async (ref) => (await schedulesRun({ path: { ref } })).data,
    [...TOUCHED, "sessions"],
  );

export const useRemoveSchedule = () =>
  useChange<string, unknown>(async (ref) => (await schedulesRemove({ path: { ref } })).data, TOUCHED);

/** The request that a definition in YAML stands for; it is checked when it is sent. */
export const readDefinition = async (text: string): Promise<SessionCreate> =>
  (await definitionsRead({ body: { text } })).data.session as SessionCreate;

/** As `readDefinition`, again whenever the text changes. */
export function definitionReadQuery(text: string) {
  return queryOptions({
    queryKey: ["definition", "read", text] as const,
    queryFn: () => readDefinition(text),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 60_000,
  });
}

/** A request in YAML, as `carrel session export` writes it. */
export const writeDefinition = async (request: SessionCreate): Promise<string> =>
  (await definitionsWrite({ body: request })).data.text;

/** As `writeDefinition`, and again whenever the request changes. */
export function definitionQuery(request: SessionCreate) {
  return queryOptions({
    queryKey: ["definition", "write", request] as const,
    queryFn: async ({ signal }) => (await definitionsWrite({ body: request, signal })).data.text,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 60_000,
  });
}
