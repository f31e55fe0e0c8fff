import { useEffect } from "react";

/** Names the tab, for as long as the caller is shown. */
export function usePageTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} · Carrel` : "Carrel";
    return () => {
      document.title = "Carrel";
    };
  }, [title]);
}
