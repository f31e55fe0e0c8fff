import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import type { Change } from "@/api/types";
import { SLOTS_JOINT, slotsWords } from "@/ui/slots";

/** A change that would start the session, as text; null for ending a session, which has its own dialog. */
export function useChangeText(): (change: Change) => string | null {
  const { t } = useLingui();
  return useCallback(
    (change) => {
      const group = change.group?.name ?? "";
      const slots = slotsWords(change.slots).join(SLOTS_JOINT);
      switch (change.kind) {
        case "group":
          return t`Use resource group ${group}.`;
        case "any_node":
          return t`Allow any node.`;
        case "smaller":
          return t`Request ${slots}.`;
        case "end_own":
          return null;
      }
    },
    [t],
  );
}
