import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Badge, Group, Text } from "@mantine/core";
import type { Policy } from "@/api/types";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { limitsFor } from "./limits";
import { UsedBy } from "./UsedBy";
import { useLimitsText } from "./use-limits-text";
import { holdersOf } from "./used-by";

/** The keys of sortable columns are the server's sort keys. */
export const POLICY_COLUMNS: readonly Column<Policy>[] = [
  {
    key: "name",
    title: msg`Name`,
    width: "16rem",
    shown: "always",
    sortable: true,
    value: (policy) => policy.name,
    cell: (policy) => (
      <Group gap="xs" wrap="nowrap">
        <Text size="sm" fw={500} truncate>
          {policy.name}
        </Text>
        {policy.default && (
          <Badge size="xs" variant="default" tt="none">
            <Trans>default</Trans>
          </Badge>
        )}
      </Group>
    ),
  },
  {
    key: "limits",
    title: msg`Limits`,
    value: () => null,
    cell: (policy) => <LimitsText policy={policy} />,
  },
  {
    key: "used_by",
    title: msg`Used by`,
    width: "15rem",
    value: (policy) => holdersOf(policy),
    cell: (policy) => <UsedBy policy={policy} />,
  },
  {
    key: "created_at",
    title: msg`Created`,
    width: "12rem",
    sortable: true,
    shown: "chosen",
    value: (policy) => policy.created_at,
    cell: (policy) => <Instant at={policy.created_at} />,
  },
];

function LimitsText({ policy }: { policy: Policy }) {
  const text = useLimitsText().short(policy.kind, limitsFor(policy));
  return <span title={text}>{text}</span>;
}

export const POLICY_FIELDS: CsvFields<Policy> = [
  ["id", (policy) => policy.id],
  ["kind", (policy) => policy.kind],
  ["name", (policy) => policy.name],
  ["description", (policy) => policy.description],
  ["limits", (policy) => JSON.stringify(policy.limits)],
  ["keypairs", (policy) => policy.used_by.keypairs],
  ["sign_ins", (policy) => policy.used_by.sign_ins],
  ["users", (policy) => policy.used_by.users],
  ["projects", (policy) => policy.used_by.projects],
  ["default", (policy) => policy.default],
  ["created_at", (policy) => policy.created_at],
];
