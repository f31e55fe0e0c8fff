import { useLingui } from "@lingui/react/macro";
import type { Session } from "@/api/types";
import { useReadings } from "@/cache/usage";
import { formatCores, formatSize } from "@/ui/format";
import { Sparkline } from "@/ui/Sparkline";
import styles from "./cells.module.css";

/** Usage of one slot over the last five minutes, against its allocation. */
export function UsageSparkline({ session, slot }: { session: Session; slot: "cpu" | "mem" }) {
  const { t } = useLingui();
  const readings = useReadings(session.id);
  if (session.state !== "RUNNING" || session.array) return null;
  const values = slot === "cpu" ? readings.cpu_millis : readings.mem_bytes;
  const latest = values.at(-1);
  const given = session.slots[slot] ?? 0;
  if (latest === undefined) return <span className={styles.faint}>–</span>;
  const percent = given > 0 ? Math.round((latest / given) * 100) : 0;
  const label =
    slot === "cpu"
      ? t`CPU ${percent}%: ${formatCores(latest)} of ${formatCores(given)}`
      : t`Memory ${percent}%: ${formatSize(latest)} of ${formatSize(given)}`;
  return (
    <span className={styles.spark} title={label}>
      <Sparkline
        values={values}
        width={48}
        ceiling={given}
        color={slot === "cpu" ? "var(--carrel-cpu)" : "var(--carrel-mem)"}
        label={label}
      />
      <span className={styles.percent}>{percent}%</span>
    </span>
  );
}

/** Mean utilisation of its accelerators over the last five minutes. */
export function AcceleratorSparkline({ session }: { session: Session }) {
  const { t } = useLingui();
  const values = useReadings(session.id).accelerator_percent;
  const percent = values.at(-1);
  if (session.state !== "RUNNING" || percent == null) return null;
  const label = t`Accelerator utilization: ${percent}%`;
  return (
    <span className={styles.spark} title={label}>
      <Sparkline
        values={values.map((value) => value ?? 0)}
        width={48}
        ceiling={100}
        color="var(--carrel-violet)"
        label={label}
      />
      <span className={styles.percent}>{percent}%</span>
    </span>
  );
}
