import { useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import type { Grouping } from "./scopes";

/** Names of what the rows are about. */
export function useByNames(): Record<Grouping, string> {
  const { t } = useLingui();
  return useMemo(
    () => ({
      domain: t`Domain`,
      project: t`Project`,
      user: t`User`,
      group: t`Resource group`,
      image: t`Image`,
    }),
    [t],
  );
}
