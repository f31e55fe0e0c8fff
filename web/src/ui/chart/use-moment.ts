import { useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import { writing } from "@/ui/format";

/** Writes a moment (Unix seconds) in the user's locale. */
export function useMoment(): (seconds: number) => string {
  const { i18n } = useLingui();
  return useMemo(() => {
    const written = new Intl.DateTimeFormat(writing(i18n.locale), {
      dateStyle: "medium",
      timeStyle: "medium",
    });
    return (seconds) => written.format(seconds * 1000);
  }, [i18n.locale]);
}
