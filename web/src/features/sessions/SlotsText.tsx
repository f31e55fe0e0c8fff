import type { Slots } from "@/api/types";
import { SLOTS_JOINT, slotsWords } from "@/ui/slots";

/** "2 CPU · 4 GiB · 1 cuda.device". */
export function SlotsText({ slots }: { slots: Slots }) {
  return <span title={slotsWords(slots).join(SLOTS_JOINT)}>{slotsWords(slots).join(SLOTS_JOINT)}</span>;
}
