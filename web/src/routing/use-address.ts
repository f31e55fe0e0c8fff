import { useNavigate, useRouter } from "@tanstack/react-router";
import { useCallback } from "react";
import { showsAnother } from "./items";

/** Changes some search parameters of this page; `replace` adds no history entry. */
export type ChangeAddress<S> = (part: Partial<S>, replace?: boolean) => void;

/** Another item in the open details adds no history entry either: Back closes them, however many were shown. */
export function useAddress<S extends object>(): ChangeAddress<S> {
  const navigate = useNavigate();
  const router = useRouter();
  return useCallback(
    (part, replace = false) => {
      const now = router.latestLocation.search;
      void navigate({
        to: ".",
        search: (search: object) => ({ ...search, ...part }),
        replace: replace || showsAnother(now, { ...now, ...part }),
      });
    },
    [navigate, router],
  );
}
