import { useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { UsageBar } from "@/features/folders/UsageBar";
import { useMe } from "@/me/use-me";
import { ownQuotasQuery } from "@/queries/quotas";
import { Card } from "./Card";

/** Storage of the user and their projects, where it is limited. */
export function QuotasCard() {
  const { t } = useLingui();
  const me = useMe();
  const limited = (useQuery(ownQuotasQuery).data ?? []).filter(({ most_bytes }) => most_bytes !== null);
  if (limited.length === 0) return null;
  return (
    <Card title={t`Storage quotas`}>
      {limited.map(({ kind, id, label, used_bytes, most_bytes, level }) => {
        const project = me.projects.find((one) => one.id === id)?.name ?? label;
        return (
          <div key={`${kind}:${id}`}>
            {kind === "user" ? t`My folders` : t`Project ${project}`}
            <UsageBar used={used_bytes} most={most_bytes} level={level} />
          </div>
        );
      })}
    </Card>
  );
}
