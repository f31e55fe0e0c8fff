import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { Keypair } from "@/api/types";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { AccessKeyCell } from "./AccessKeyCell";

export const KEYPAIR_COLUMNS: readonly Column<Keypair>[] = [
  {
    key: "name",
    title: msg`Name`,
    sortable: true,
    value: (keypair) => keypair.name,
    cell: (keypair) => keypair.name || <Trans>unnamed</Trans>,
  },
  {
    key: "access_key",
    title: msg`Access key`,
    width: "14.5rem",
    shown: "always",
    sortable: true,
    value: (keypair) => keypair.access_key,
    cell: (keypair) => <AccessKeyCell keypair={keypair} />,
  },
  {
    key: "created",
    title: msg`Created`,
    width: "12.5rem",
    sortable: true,
    value: (keypair) => Date.parse(keypair.created_at),
    cell: (keypair) => <Instant at={keypair.created_at} />,
  },
  {
    key: "used",
    title: msg`Last used`,
    width: "12.5rem",
    sortable: true,
    value: (keypair) => (keypair.last_used_at ? Date.parse(keypair.last_used_at) : null),
    cell: (keypair) => (keypair.last_used_at ? <Instant at={keypair.last_used_at} /> : <Trans>never</Trans>),
  },
  {
    key: "rotated",
    title: msg`Secret key created`,
    width: "12.5rem",
    sortable: true,
    shown: "chosen",
    value: (keypair) => Date.parse(keypair.rotated_at ?? keypair.created_at),
    cell: (keypair) => <Instant at={keypair.rotated_at ?? keypair.created_at} />,
  },
  {
    key: "limit",
    title: msg`Requests in 15 minutes`,
    width: "10rem",
    sortable: true,
    value: (keypair) => keypair.rate_limit,
    cell: (keypair) => keypair.rate_limit ?? <Trans>default</Trans>,
  },
];

export const KEYPAIR_FIELDS: CsvFields<Keypair> = [
  ["access_key", (keypair) => keypair.access_key],
  ["name", (keypair) => keypair.name],
  ["active", (keypair) => keypair.active],
  ["created_at", (keypair) => keypair.created_at],
  ["rotated_at", (keypair) => keypair.rotated_at],
  ["last_used_at", (keypair) => keypair.last_used_at],
  ["rate_limit", (keypair) => keypair.rate_limit],
];
