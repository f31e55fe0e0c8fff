import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import type { DependencyCondition } from "@/api/types";

const CONDITIONS: Record<DependencyCondition, MessageDescriptor> = {
  succeeded: msg`has succeeded`,
  failed: msg`has failed`,
  ended: msg`has ended`,
};

/** How a session must end before another one starts, in words. */
export function useConditionText(): (condition: DependencyCondition) => string {
  const { i18n } = useLingui();
  return useCallback((condition) => i18n._(CONDITIONS[condition]), [i18n]);
}
