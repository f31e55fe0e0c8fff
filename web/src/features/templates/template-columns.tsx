import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Template } from "@/api/types";
import { AccountName } from "@/ui/AccountName";
import { Instant } from "@/ui/Instant";
import { StateBadge } from "@/ui/StateBadge";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";

const parameterNames = ({ parameters }: Template) => parameters.map(({ name }) => name).join(", ");

export const TEMPLATE_COLUMNS: readonly Column<Template>[] = [
  {
    key: "name",
    title: msg`Name`,
    shown: "always",
    sortable: true,
    value: (template) => template.name,
    cell: (template) => (
      <>
        <Text size="sm" fw={500} truncate>
          {template.name}
        </Text>
        {template.description && (
          <Text size="xs" c="dimmed" truncate title={template.description}>
            {template.description}
          </Text>
        )}
      </>
    ),
  },
  { key: "parameters", title: msg`Parameters`, value: parameterNames },
  {
    key: "project",
    title: msg`Project`,
    width: "10rem",
    value: (template) => template.project.name,
  },
  {
    key: "shared",
    title: msg`Visible to`,
    width: "10rem",
    value: (template) => Number(template.shared),
    cell: (template) =>
      template.shared ? (
        <StateBadge look="ok">
          <Trans>Project members</Trans>
        </StateBadge>
      ) : (
        <Trans>Only the owner</Trans>
      ),
  },
  {
    key: "owner",
    title: msg`Owner`,
    width: "12rem",
    value: (template) => template.owner.email,
    cell: (template) => <AccountName email={template.owner.email} />,
  },
  {
    key: "updated_at",
    title: msg`Changed`,
    width: "12rem",
    sortable: true,
    value: (template) => template.updated_at,
    cell: (template) => <Instant at={template.updated_at} />,
  },
  {
    key: "created_at",
    title: msg`Created`,
    width: "12rem",
    sortable: true,
    shown: "chosen",
    value: (template) => template.created_at,
    cell: (template) => <Instant at={template.created_at} />,
  },
];

export const TEMPLATE_FIELDS: CsvFields<Template> = [
  ["id", (template) => template.id],
  ["name", (template) => template.name],
  ["description", (template) => template.description],
  ["owner", (template) => template.owner.email],
  ["project", (template) => template.project.name],
  ["shared", (template) => String(template.shared)],
  ["parameters", parameterNames],
  ["revision", (template) => String(template.revision)],
  ["updated_at", (template) => template.updated_at],
];
