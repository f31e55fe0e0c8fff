import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { Keypair } from "@/api/types";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { AccessKeyCell } from "./AccessKeyCell";

export const KEYPAIR_COLUMNS: readonly Column<Keypair>[] = [
  {
    key: "access_key",
    title: msg`Access key`,
    shown: "always",
    sortable: true,
    value: (keypair) => keypair.access_key,
    cell: (keypair) => <AccessKeyCell keypair={keypair} />,
  },
  {
    key: "created",
    title: msg`Created`,
    width: "13rem",
    sortable: true,
    value: (keypair) => Date.parse(keypair.created_at),
    cell: (keypair) => <Instant at={keypair.created_at} />,
  },
  {
    key: "used",
    title: msg`Last used`,
    width: "13rem",
    sortable: true,
    value: (keypair) => (keypair.last_used_at ? Date.parse(keypair.last_used_at) : null),
    cell: (keypair) => (keypair.last_used_at ? <Instant at={keypair.last_used_at} /> : <Trans>never</Trans>),
  },
];

export const KEYPAIR_FIELDS: CsvFields<Keypair> = [
  ["access_key", (keypair) => keypair.access_key],
  ["active", (keypair) => keypair.active],
  ["created_at", (keypair) => keypair.created_at],
  ["last_used_at", (keypair) => keypair.last_used_at],
];
