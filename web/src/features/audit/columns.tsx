import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { AuditEntry } from "@/api/types";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";
import { EntryText } from "./EntryText";
import { OutcomeBadge } from "./OutcomeBadge";
import { credentialText } from "./sentences/credential";
import { useVoice } from "./sentences/use-entry-text";

function By({ entry }: { entry: AuditEntry }) {
  return credentialText(entry.credential, useVoice());
}

export const AUDIT_COLUMNS: readonly Column<AuditEntry>[] = [
  {
    key: "at",
    title: msg`When`,
    width: "12.5rem",
    shown: "always",
    value: (entry) => entry.at,
    cell: (entry) => <Instant at={entry.at} />,
  },
  {
    key: "actor",
    title: msg`Who`,
    width: "13rem",
    value: (entry) => entry.actor.email,
    cell: (entry) => entry.actor.email || (entry.credential === "carrel" ? "Carrel" : <Trans>unknown</Trans>),
  },
  {
    key: "action",
    title: msg`Action`,
    value: (entry) => entry.action,
    cell: (entry) => <EntryText entry={entry} />,
  },
  {
    key: "object",
    title: msg`Object`,
    width: "11rem",
    value: (entry) => entry.object.name || entry.object.id,
  },
  {
    key: "outcome",
    title: msg`Outcome`,
    width: "7rem",
    value: (entry) => entry.outcome,
    cell: (entry) => <OutcomeBadge outcome={entry.outcome} />,
  },
  { key: "address", title: msg`Address`, width: "9rem", value: (entry) => entry.address },
  {
    key: "credential",
    title: msg({ context: "credential", message: "By" }),
    width: "9rem",
    shown: "chosen",
    value: (entry) => entry.credential,
    cell: (entry) => <By entry={entry} />,
  },
];
