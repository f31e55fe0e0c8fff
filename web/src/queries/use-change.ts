import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Problem } from "@/api/problem";

/** A mutation; active queries with one of the `touched` key prefixes are refetched. */
export function useChange<Wanted, Answer>(
  act: (variables: Wanted) => Promise<Answer>,
  touched: readonly string[],
) {
  const client = useQueryClient();
  return useMutation<Answer, Problem, Wanted>({
    mutationFn: act,
    onSettled: () => {
      for (const key of touched) void client.invalidateQueries({ queryKey: [key] });
    },
  });
}
