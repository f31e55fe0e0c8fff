import { useLingui } from "@lingui/react/macro";
import type { SlotKind } from "@/api/types";

/** Label of a slot's field. */
export function useSlotFieldName(): (slot: string, kinds: readonly SlotKind[]) => string {
  const { t } = useLingui();
  return (slot, kinds) => {
    const kind = kinds.find(({ name }) => name === slot);
    const title = kind?.title || kind?.family;
    if (slot === "cpu") return t`CPU cores`;
    if (slot === "mem") return t`Memory`;
    if (!title) return slot;
    return kind?.type === "shares" ? t`Fractional devices: ${title}` : t`Whole devices: ${title}`;
  };
}
