import { type RefObject, useEffect, useRef } from "react";
import { isTyping, overlayIsOpen } from "./keys";

/** Closes a non-modal panel by Escape, unless the key belongs to an overlay or a field outside of the panel. */
export function useEscape(panel: RefObject<HTMLElement | null>, onClose: () => void): void {
  const latest = useRef(onClose);
  latest.current = onClose;
  useEffect(() => {
    let taken = false;
    // Before the overlay closes by the same key.
    const before = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      const outside = !panel.current?.contains(event.target as Node);
      taken = overlayIsOpen() || (outside && isTyping(event.target));
    };
    const after = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !taken && !event.defaultPrevented) latest.current();
    };
    window.addEventListener("keydown", before, { capture: true });
    document.addEventListener("keydown", after);
    return () => {
      window.removeEventListener("keydown", before, { capture: true });
      document.removeEventListener("keydown", after);
    };
  }, [panel]);
}
