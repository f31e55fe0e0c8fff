import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { Keypair } from "@/api/types";
import { Instant } from "@/ui/Instant";
import { ActiveBadge } from "@/ui/StateBadge";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";

export const ALL_KEYPAIR_COLUMNS: readonly Column<Keypair>[] = [
  {
    key: "access_key",
    title: msg`Access key`,
    shown: "always",
    width: "12.5rem",
    sortable: true,
    value: (keypair) => keypair.access_key,
    cell: (keypair) => <code>{keypair.access_key}</code>,
  },
  { key: "owner", title: msg`Owner`, sortable: true, value: (keypair) => keypair.owner.email },
  { key: "name", title: msg`Name`, sortable: true, value: (keypair) => keypair.name },
  {
    key: "active",
    title: msg`State`,
    width: "6rem",
    sortable: true,
    value: (keypair) => Number(keypair.active),
    cell: (keypair) => (
      <ActiveBadge active={keypair.active}>
        {keypair.active ? <Trans>active</Trans> : <Trans>inactive</Trans>}
      </ActiveBadge>
    ),
  },
  {
    key: "limit",
    title: msg`Requests in 15 minutes`,
    width: "8rem",
    sortable: true,
    value: (keypair) => keypair.rate_limit,
    cell: (keypair) => keypair.rate_limit ?? <Trans>default</Trans>,
  },
  {
    key: "policy",
    title: msg`Resource policy`,
    width: "8rem",
    sortable: true,
    value: (keypair) => keypair.policy.name,
  },
  {
    key: "created",
    title: msg`Created`,
    width: "11rem",
    sortable: true,
    value: (keypair) => Date.parse(keypair.created_at),
    cell: (keypair) => <Instant at={keypair.created_at} />,
  },
  {
    key: "used",
    title: msg`Last used`,
    width: "11rem",
    sortable: true,
    value: (keypair) => (keypair.last_used_at ? Date.parse(keypair.last_used_at) : null),
    cell: (keypair) => (keypair.last_used_at ? <Instant at={keypair.last_used_at} /> : <Trans>never</Trans>),
  },
];

export const ALL_KEYPAIR_FIELDS: CsvFields<Keypair> = [
  ["access_key", (keypair) => keypair.access_key],
  ["owner", (keypair) => keypair.owner.email],
  ["name", (keypair) => keypair.name],
  ["active", (keypair) => keypair.active],
  ["rate_limit", (keypair) => keypair.rate_limit],
  ["policy", (keypair) => keypair.policy.name],
  ["created_at", (keypair) => keypair.created_at],
  ["last_used_at", (keypair) => keypair.last_used_at],
];
