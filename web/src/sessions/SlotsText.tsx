import type { Slots } from "@/api/types";
import { formatCores, formatSize } from "@/ui/format";

/** "2 CPU · 4 GiB". */
export function SlotsText({ slots }: { slots: Slots }) {
  return <span>{`${formatCores(slots.cpu ?? 0)} CPU · ${formatSize(slots.mem ?? 0)}`}</span>;
}
