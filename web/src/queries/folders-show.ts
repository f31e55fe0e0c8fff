import { queryOptions } from "@tanstack/react-query";
import { sharesList, vfoldersAccess, vfoldersMounts, vfoldersShow } from "@/api/generated/sdk.gen";

/** One folder, by id or name. */
export function foldersShowQuery(ref: string) {
  return queryOptions({
    queryKey: ["folders", "show", ref] as const,
    queryFn: async ({ signal }) => (await vfoldersShow({ path: { ref }, signal })).data,
  });
}

/** With whom a folder is shared, those invited too. */
export function folderSharesQuery(id: string) {
  return queryOptions({
    queryKey: ["folders", "shares", id] as const,
    queryFn: async ({ signal }) => (await sharesList({ path: { ref: id }, signal })).data.items,
  });
}

/** Everybody who can reach the files of a folder. */
export function folderAccessQuery(id: string) {
  return queryOptions({
    queryKey: ["folders", "access", id] as const,
    queryFn: async ({ signal }) => (await vfoldersAccess({ path: { ref: id }, signal })).data.items,
  });
}

/** The live sessions that have a folder. */
export function folderMountsQuery(id: string) {
  return queryOptions({
    queryKey: ["folders", "mounts", id] as const,
    queryFn: async ({ signal }) => (await vfoldersMounts({ path: { ref: id }, signal })).data.items,
  });
}
