import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Problem } from "@/api/problem";

/** A change at the server; what begins with one of the `touched` keys is asked for again where it is looked at. */
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
