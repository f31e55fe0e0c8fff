import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Badge, Group, Tooltip } from "@mantine/core";
import type { Token } from "@/api/types";
import { Instant } from "@/ui/Instant";
import { StateBadge } from "@/ui/StateBadge";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { useScopeText } from "./use-scope-text";

const SHOWN = 3;

export const hasExpired = (token: Token): boolean =>
  token.expires_at !== null && Date.parse(token.expires_at) < Date.now();

/** The scopes in words; the raw ones in a tooltip. */
function Scopes({ scopes }: { scopes: string[] }) {
  const scopeText = useScopeText();
  const more = scopes.length - SHOWN;
  const raw = <code>{scopes.join(", ")}</code>;
  return (
    <Tooltip label={raw} multiline maw={340} events={{ hover: true, focus: true, touch: true }}>
      <Group gap={4}>
        {scopes.slice(0, SHOWN).map((scope) => (
          <Badge key={scope} size="sm" variant="default" tt="none" fw={400}>
            {scopeText(scope)}
          </Badge>
        ))}
        {more > 0 && <Trans>and {more} more</Trans>}
      </Group>
    </Tooltip>
  );
}

export const TOKEN_COLUMNS: readonly Column<Token>[] = [
  {
    key: "name",
    title: msg`Name`,
    width: "12rem",
    shown: "always",
    sortable: true,
    value: (token) => token.name,
  },
  {
    key: "scopes",
    title: msg`Scopes`,
    value: (token) => token.scopes.join(" "),
    cell: (token) => <Scopes scopes={token.scopes} />,
  },
  {
    key: "expires",
    title: msg`Expires`,
    width: "12.5rem",
    sortable: true,
    value: (token) => (token.expires_at ? Date.parse(token.expires_at) : Number.MAX_SAFE_INTEGER),
    cell: (token) =>
      token.expires_at === null ? (
        <Trans>never</Trans>
      ) : hasExpired(token) ? (
        <StateBadge look="expired">
          <Trans>expired</Trans>
        </StateBadge>
      ) : (
        <Instant at={token.expires_at} />
      ),
  },
  {
    key: "used",
    title: msg`Last used`,
    width: "12.5rem",
    sortable: true,
    value: (token) => (token.last_used_at ? Date.parse(token.last_used_at) : null),
    cell: (token) => (token.last_used_at ? <Instant at={token.last_used_at} /> : <Trans>never</Trans>),
  },
  {
    key: "created",
    title: msg`Created`,
    width: "12.5rem",
    sortable: true,
    value: (token) => Date.parse(token.created_at),
    cell: (token) => <Instant at={token.created_at} />,
  },
];

export const TOKEN_FIELDS: CsvFields<Token> = [
  ["id", (token) => token.id],
  ["name", (token) => token.name],
  ["scopes", (token) => token.scopes.join(" ")],
  ["created_at", (token) => token.created_at],
  ["expires_at", (token) => token.expires_at],
  ["last_used_at", (token) => token.last_used_at],
];
