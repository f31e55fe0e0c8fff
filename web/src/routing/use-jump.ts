import { useLocation } from "@tanstack/react-router";
import { type RefObject, useEffect } from "react";

/** Scrolls to the field in `host` whose `data-path` the address has as its hash, once it is there, and focuses it. */
export function useJump(host: RefObject<HTMLElement | null>): void {
  const location = useLocation();
  // Every navigation makes a new location, also one to the same address.
  useEffect(() => {
    const { hash } = location;
    if (!hash || !host.current) return;
    const arrived = () => jump(host.current, hash);
    if (arrived()) return;
    const observer = new MutationObserver(() => arrived() && observer.disconnect());
    observer.observe(host.current, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, [location, host]);
}

function jump(host: HTMLElement | null, hash: string): boolean {
  const field = host?.querySelector<HTMLElement>(`[data-path="${CSS.escape(hash)}"]`);
  if (!field) return false;
  const control = field.matches(FOCUSABLE) ? field : field.querySelector<HTMLElement>(FOCUSABLE);
  field.scrollIntoView({ block: "center" });
  control?.focus({ preventScroll: true });
  return true;
}

const FOCUSABLE = "input, textarea, button, select";
