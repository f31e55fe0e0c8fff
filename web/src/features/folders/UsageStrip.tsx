import { Plural, useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import type { Quota, StorageHost } from "@/api/types";
import { useProject } from "@/me/project";
import { useMe } from "@/me/use-me";
import { hostsChoiceQuery } from "@/queries/hosts";
import { ownQuotasQuery } from "@/queries/quotas";
import { formatSize } from "@/ui/format";
import { LevelBadge } from "./badges";
import { UsageBar } from "./UsageBar";
import styles from "./UsageStrip.module.css";

/** More would push the list out of view. */
const MOST_HOSTS = 6;

/** The user's own quota and that of the current project; the quotas of all projects would hide the list. */
export const shownQuotas = (quotas: readonly Quota[], project: string | undefined): Quota[] =>
  quotas.filter(({ kind, id }) => kind === "user" || id === project);

/** Quota usage of the user and the current project, and free space on the storage hosts. */
export function UsageStrip() {
  const { t } = useLingui();
  const project = useProject(useMe());
  const quotas = shownQuotas(useQuery(ownQuotasQuery).data ?? [], project?.id);
  const hosts = useQuery(hostsChoiceQuery).data ?? [];
  if (quotas.length + hosts.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className={styles.strip} aria-label={t`Storage`} tabIndex={0}>
      {quotas.map((quota) => (
        <QuotaItem key={`${quota.kind}:${quota.id}`} quota={quota} />
      ))}
      {hosts.slice(0, MOST_HOSTS).map((host) => (
        <HostItem key={host.id} host={host} />
      ))}
    </section>
  );
}

function QuotaItem({ quota }: { quota: Quota }) {
  const { t } = useLingui();
  const project = useMe().projects.find(({ id }) => id === quota.id)?.name ?? quota.label;
  const most = quota.most_folders;
  return (
    <div className={styles.item}>
      <div className={styles.head}>
        <span className={styles.name}>{quota.kind === "user" ? t`Owned by me` : t`Project ${project}`}</span>
        <span className={styles.count}>
          {most === null ? (
            <Plural value={quota.folders} one="# folder" other="# folders" />
          ) : (
            t`${quota.folders} of ${most} folders`
          )}
        </span>
      </div>
      <UsageBar used={quota.used_bytes} most={quota.most_bytes} level={quota.level} />
    </div>
  );
}

function HostItem({ host }: { host: StorageHost }) {
  const { t } = useLingui();
  const { total_bytes: total, free_bytes: free } = host;
  return (
    <div className={styles.item}>
      <div className={styles.head}>
        <span className={styles.name}>{t`Host ${host.name}`}</span>
        <LevelBadge level={host.level} />
      </div>
      {total !== null && free !== null && (
        <UsageBar used={total - free} most={total} level={host.level} more={t`${formatSize(free)} free`} />
      )}
    </div>
  );
}
