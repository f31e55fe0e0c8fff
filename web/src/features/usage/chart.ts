import type { ComponentProps } from "react";
import type { TimeChart } from "@/ui/chart/TimeChart";

/** One chart of a history. */
export interface Chart {
  key: string;
  drawing: Pick<ComponentProps<typeof TimeChart>, "title" | "lines" | "format" | "scale">;
}
