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
    const keep = () => {
      if (latest.current.onLink) keepVariables(latest.current.from, values);
    };
    const timer = setTimeout(() => {
      keep();
      latest.current.onLink?.(toLink(values, latest.current.initial));
    }, REST_MS);
    window.addEventListener("pagehide", keep);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("pagehide", keep);
    };
  }, [values]);
}
