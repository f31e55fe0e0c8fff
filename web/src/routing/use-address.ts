import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

/** Changes part of what a link to this page carries; with `replace` the page before stays one step back. */
export type ChangeAddress<S> = (part: Partial<S>, replace?: boolean) => void;

export function useAddress<S extends object>(): ChangeAddress<S> {
  const navigate = useNavigate();
  return useCallback(
    (part, replace = false) =>
      void navigate({ to: ".", search: (now: object) => ({ ...now, ...part }), replace }),
    [navigate],
  );
}
