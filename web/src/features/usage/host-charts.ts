import { useLingui } from "@lingui/react/macro";
import { useMemo } from "react";
import type { Line } from "@/ui/chart/series";
import { formatSize } from "@/ui/format";
import type { Chart } from "./chart";

type MakeLine = (name: string, label: string, color: string, dashed?: boolean) => Line[];

/** The charts of a machine's network and disks. line: the measure as a line; none if it was not measured. */
export function useHostCharts(): (line: MakeLine) => Chart[] {
  const { t } = useLingui();
  return useMemo(() => {
    const rate = (bytes: number) => t`${formatSize(bytes)}/s`;
    return (line) => [
      {
        key: "host.network",
        drawing: {
          title: t`Network of the host`,
          lines: [
            ...line("host.received", t`Received`, "--carrel-teal"),
            ...line("host.sent", t`Sent`, "--carrel-violet"),
          ],
          format: rate,
          scale: "binary",
        },
      },
      {
        key: "host.disk",
        drawing: {
          title: t`Disk throughput of the host`,
          lines: [
            ...line("host.read", t`Read`, "--carrel-teal"),
            ...line("host.written", t`Written`, "--carrel-violet"),
          ],
          format: rate,
          scale: "binary",
        },
      },
      {
        key: "host.space",
        drawing: {
          title: t`Disk space of the host`,
          lines: [
            ...line("host.disk_used", t`Used`, "--carrel-violet"),
            ...line("host.disk_size", t`Capacity`, "--carrel-ink-soft", true),
          ],
          format: formatSize,
          scale: "binary",
        },
      },
    ];
  }, [t]);
}
