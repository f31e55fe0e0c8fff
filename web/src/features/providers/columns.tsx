import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { Provider } from "@/api/types";
import type { Column } from "@/ui/table/column";
import { providerKindTitle } from "./words";

export const PROVIDER_COLUMNS: readonly Column<Provider>[] = [
  { key: "name", title: msg`Name`, shown: "always", sortable: true, value: (provider) => provider.name },
  {
    key: "kind",
    title: msg`Kind`,
    width: "9rem",
    sortable: true,
    value: (provider) => providerKindTitle(provider.kind),
  },
  {
    key: "server",
    title: msg`Server`,
    sortable: true,
    value: (provider) => provider.server,
  },
  { key: "domain", title: msg`Domain`, width: "9rem", value: (provider) => provider.domain.name },
  { key: "people", title: msg`People`, width: "6rem", sortable: true, value: (provider) => provider.people },
  {
    key: "active",
    title: msg`Shown`,
    width: "6rem",
    value: (provider) => Number(provider.active),
    cell: (provider) => (provider.active ? <Trans>yes</Trans> : <Trans>no</Trans>),
  },
];
