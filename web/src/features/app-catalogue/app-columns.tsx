import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { AppTemplate } from "@/api/types";
import { ActiveBadge } from "@/ui/StateBadge";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";

const SCOPES = {
  person: msg`Yours`,
  project: msg`Project`,
  installation: msg`Installation`,
  builtin: msg`Built in`,
};

/** Whose an app template is. */
function ScopeName({ template }: { template: AppTemplate }) {
  const { t } = useLingui();
  return template.project ? template.project.name : t(SCOPES[template.scope]);
}

export const APP_COLUMNS: readonly Column<AppTemplate>[] = [
  {
    key: "title",
    title: msg`App`,
    shown: "always",
    sortable: true,
    value: (template) => template.title,
    cell: (template) => (
      <>
        <Text size="sm" fw={500} truncate>
          {template.title}
        </Text>
        <Text size="xs" c="dimmed" truncate title={(template.command ?? []).join(" ")}>
          {(template.command ?? []).join(" ")}
        </Text>
      </>
    ),
  },
  { key: "name", title: msg`Name`, width: "9rem", sortable: true, value: (template) => template.name },
  {
    key: "scope",
    title: msg`Whose`,
    width: "9rem",
    value: (template) => template.project?.name ?? template.scope,
    cell: (template) => <ScopeName template={template} />,
  },
  { key: "requires", title: msg`Program`, width: "10rem", value: (template) => template.requires ?? "" },
  { key: "port", title: msg`Port`, width: "6rem", value: (template) => template.port },
  {
    key: "enabled",
    title: msg`State`,
    width: "8rem",
    value: (template) => Number(template.enabled),
    cell: (template) => (
      <ActiveBadge active={template.enabled}>
        {template.enabled ? <Trans>Offered</Trans> : <Trans>Hidden</Trans>}
      </ActiveBadge>
    ),
  },
];

export const APP_FIELDS: CsvFields<AppTemplate> = [
  ["id", (template) => template.id],
  ["name", (template) => template.name],
  ["title", (template) => template.title],
  ["scope", (template) => template.scope],
  ["project", (template) => template.project?.name ?? ""],
  ["port", (template) => String(template.port)],
  ["requires", (template) => template.requires ?? ""],
  ["enabled", (template) => String(template.enabled)],
];
