import { useEffect, useRef } from "react";
import type { LaunchLink } from "@/routing/launch-link";
import { keepVariables, toLink } from "./link";
import type { LaunchForm } from "./request";

const REST_MS = 300;

interface Keeping {
  from: string;
  initial: LaunchForm;
  onLink: ((link: LaunchLink | undefined) => void) | undefined;
}

/** Keeps the form in the address, and its variables in this tab, so that it survives back and reload. */
export function useLink(values: LaunchForm, { from, initial, onLink }: Keeping): void {
  const latest = useRef({ from, initial, onLink });
  latest.current = { from, initial, onLink };
  const first = useRef(true);
  useEffect(() => {
    // The address holds these values already.
    if (first.current) {
      first.current = false;
      return;
    }
    const timer = setTimeout(() => {
      const { from, initial, onLink } = latest.current;
      if (!onLink) return;
      keepVariables(from, values.env);
      onLink(toLink(values, initial));
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [values]);
}
