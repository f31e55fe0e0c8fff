import { useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import type { By } from "./scopes";

/** Names of what the rows are about. */
export function useByNames(): Record<By, string> {
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
