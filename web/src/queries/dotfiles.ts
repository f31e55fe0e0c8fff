import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { dotfilesList, dotfilesRemove, dotfilesSet, dotfilesShow } from "@/api/generated/sdk.gen";
import type { Problem } from "@/api/problem";
import type { DotfileDetail } from "@/api/types";

/** The current user's dotfiles by path. */
export const dotfilesListQuery = queryOptions({
  queryKey: ["dotfiles", "list"] as const,
  queryFn: async ({ signal }) => (await dotfilesList({ signal })).data.items,
});

/** One dotfile with its content. */
export const dotfilesShowQuery = (path: string) =>
  queryOptions({
    queryKey: ["dotfiles", "show", path] as const,
    queryFn: async ({ signal }) => (await dotfilesShow({ path: { dotfile: path }, signal })).data,
  });

/** Creates or replaces a dotfile. */
export function useSetDotfile() {
  const client = useQueryClient();
  return useMutation<DotfileDetail, Problem, { path: string; content: string }>({
    mutationFn: async ({ path, content }) =>
      (await dotfilesSet({ path: { dotfile: path }, body: { content } })).data,
    onSuccess: () => client.invalidateQueries({ queryKey: ["dotfiles"] }),
  });
}

/** Deletes a dotfile. */
export function useRemoveDotfile() {
  const client = useQueryClient();
  return useMutation<void, Problem, string>({
    mutationFn: async (path) => {
      await dotfilesRemove({ path: { dotfile: path } });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["dotfiles"] }),
  });
}
