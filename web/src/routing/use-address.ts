import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

/** Changes some search parameters of this page; `replace` adds no history entry. */
export type ChangeAddress<S> = (part: Partial<S>, replace?: boolean) => void;

export function useAddress<S extends object>(): ChangeAddress<S> {
  const navigate = useNavigate();
  return useCallback(
    (part, replace = false) =>
      void navigate({ to: ".", search: (now: object) => ({ ...now, ...part }), replace }),
    [navigate],
  );
}
