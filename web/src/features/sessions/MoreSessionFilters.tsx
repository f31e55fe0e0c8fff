import { useLingui } from "@lingui/react/macro";
import { Button, Checkbox, Popover, Select, Stack } from "@mantine/core";
import { IconFilter } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { SESSION_STATES } from "@/api/session-states";
import { SESSION_KINDS } from "@/features/resources/group-words";
import { may, mayBeyondOwn } from "@/me/may";
import { useMe } from "@/me/use-me";
import { domainsChoiceQuery } from "@/queries/domains";
import { groupsChoiceQuery } from "@/queries/groups";
import { nodesAllQuery } from "@/queries/nodes";
import type { SessionsSearch } from "@/routing/search";
import { SESSION_STATE_WORDS } from "./state-names";

interface Props {
  search: SessionsSearch;
  onChange: (part: Partial<SessionsSearch>) => void;
}

const KEYS = ["state", "domain", "group", "node", "kind"] as const;
const LISTS: readonly unknown[] = ["live", "ended", "all"];

/** The less frequent filters, and grouping, behind a button that counts those in use. */
export function MoreSessionFilters({ search, onChange }: Props) {
  const { t } = useLingui();
  const more = KEYS.filter((key) => search[key] && !LISTS.includes(search[key])).length;
  return (
    <Popover position="bottom-end" trapFocus>
      <Popover.Target>
        <Button
          size="xs"
          variant={more > 0 || search.by ? "light" : "default"}
          leftSection={<IconFilter size={15} aria-hidden />}
        >
          {more > 0 ? t`More filters (${more})` : t`More filters`}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Fields search={search} onChange={onChange} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Fields({ search, onChange }: Props) {
  const { t, i18n } = useLingui();
  const me = useMe();
  const domains = useQuery({ ...domainsChoiceQuery, enabled: mayBeyondOwn(me, "domain.read") }).data ?? [];
  const groups = useQuery({ ...groupsChoiceQuery, enabled: may(me, "group.read") }).data ?? [];
  const nodes = useQuery({ ...nodesAllQuery({ sort: "name" }), enabled: may(me, "node.read") }).data ?? [];
  const field = (
    label: string,
    any: string,
    key: (typeof KEYS)[number],
    choices: { value: string; label: string }[],
  ) => {
    const value = search[key];
    const chosen = value === undefined || LISTS.includes(value) ? null : value;
    const unknown = chosen !== null && !choices.some((choice) => choice.value === chosen);
    return (
      <Select
        size="xs"
        label={label}
        placeholder={any}
        searchable
        clearable
        limit={100}
        clearButtonProps={{ "aria-label": any }}
        nothingFoundMessage={t`Nothing found`}
        data={unknown ? [{ value: chosen, label: chosen }, ...choices] : choices}
        value={chosen}
        onChange={(next) => onChange({ [key]: next ?? undefined })}
        comboboxProps={{ withinPortal: false }}
      />
    );
  };
  const named = (rows: { name: string }[]) =>
    [...new Set(rows.map(({ name }) => name))].map((name) => ({ value: name, label: name }));
  return (
    <Stack gap="xs" w={260}>
      <Checkbox
        size="xs"
        data-autofocus
        label={t`Group by project`}
        checked={search.by === "project"}
        onChange={(event) => onChange({ by: event.currentTarget.checked ? "project" : undefined })}
      />
      {field(
        t`State`,
        t`Any state`,
        "state",
        SESSION_STATES.map((state) => ({ value: state, label: i18n._(SESSION_STATE_WORDS[state].label) })),
      )}
      {(domains.length > 1 || search.domain) && field(t`Domain`, t`Any domain`, "domain", named(domains))}
      {field(t`Resource group`, t`Any group`, "group", named(groups))}
      {field(t`Node`, t`Any node`, "node", named(nodes))}
      {field(
        t`Session type`,
        t`Any type`,
        "kind",
        Object.entries(SESSION_KINDS).map(([value, label]) => ({ value, label: i18n._(label) })),
      )}
    </Stack>
  );
}
