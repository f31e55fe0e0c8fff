import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { AuditEntry } from "@/api/types";
import { EntryText } from "@/features/audit/EntryText";
import { OutcomeBadge } from "@/features/audit/OutcomeBadge";
import { useMe } from "@/me/use-me";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";

function Who({ entry }: { entry: AuditEntry }) {
  const me = useMe();
  return entry.actor.id === me.user.id ? <Trans>you</Trans> : entry.actor.email || <Trans>unknown</Trans>;
}

export const ACTIVITY_COLUMNS: readonly Column<AuditEntry>[] = [
  {
    key: "at",
    title: msg`When`,
    width: "12.5rem",
    value: (entry) => Date.parse(entry.at),
    cell: (entry) => <Instant at={entry.at} />,
  },
  {
    key: "action",
    title: msg`Action`,
    shown: "always",
    value: (entry) => entry.action,
    cell: (entry) => <EntryText entry={entry} />,
  },
  {
    key: "object",
    title: msg`Object`,
    width: "10rem",
    value: (entry) => entry.object.name || entry.object.id,
  },
  {
    key: "actor",
    title: msg`By`,
    width: "8rem",
    value: (entry) => entry.actor.email,
    cell: (entry) => <Who entry={entry} />,
  },
  {
    key: "outcome",
    title: msg`Outcome`,
    width: "7rem",
    value: (entry) => entry.outcome,
    cell: (entry) => <OutcomeBadge outcome={entry.outcome} />,
  },
  { key: "address", title: msg`Address`, width: "7.5rem", value: (entry) => entry.address },
];
