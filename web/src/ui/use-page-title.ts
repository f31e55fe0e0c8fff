import { useEffect } from "react";

/** Sets the document title while the caller is mounted. */
export function usePageTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} · Carrel` : "Carrel";
    return () => {
      document.title = "Carrel";
    };
  }, [title]);
}
