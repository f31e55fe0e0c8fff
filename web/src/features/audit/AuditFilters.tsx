import { useLingui } from "@lingui/react/macro";
import { Button, Popover, SegmentedControl, Select, Stack, TextInput } from "@mantine/core";
import { IconFilter } from "@tabler/icons-react";
import type { Ref } from "react";
import { ACTIONS } from "@/api/actions";
import type { AuditSearch } from "@/routing/search";
import { SearchBox } from "@/ui/table/SearchBox";
import { useActionText } from "./use-action-text";

interface Props {
  ref: Ref<HTMLInputElement>;
  search: AuditSearch;
  onChange: (part: Partial<AuditSearch>) => void;
}

const KINDS = [...new Set(Object.keys(ACTIONS).map((action) => action.split(".")[0] ?? ""))];

/** Filters of the audit trail. Rarely used filters are behind a button. */
export function AuditFilters({ ref, search, onChange }: Props) {
  const { t } = useLingui();
  const actionText = useActionText();
  const actions = [
    ...KINDS.map((kind) => ({ value: `${kind}.*`, label: `${kind}.*` })),
    ...Object.keys(ACTIONS).map((action) => ({ value: action, label: `${actionText(action)} (${action})` })),
  ];
  const more = [
    search.from,
    search.to,
    search.actor,
    search.object_kind,
    search.object_id,
    search.address,
  ].filter(Boolean).length;
  const field = (label: string, key: "actor" | "object_id" | "address", placeholder: string) => (
    <TextInput
      size="xs"
      label={label}
      placeholder={placeholder}
      value={search[key] ?? ""}
      onChange={(event) => onChange({ [key]: event.currentTarget.value.trim() || undefined })}
    />
  );
  const time = (label: string, key: "from" | "to") => (
    <TextInput
      size="xs"
      type="datetime-local"
      label={label}
      value={localText(search[key])}
      onChange={(event) => onChange({ [key]: instantText(event.currentTarget.value) })}
    />
  );
  return (
    <>
      <SearchBox
        ref={ref}
        label={t`Search by actor or object`}
        placeholder={t`Actor or object`}
        value={search.q}
        onChange={(q) => onChange({ q })}
      />
      <Select
        size="xs"
        w={220}
        aria-label={t`Any action`}
        placeholder={t`Any action`}
        searchable
        clearable
        nothingFoundMessage={t`Nothing found`}
        clearButtonProps={{ "aria-label": t`Any action` }}
        data={actions}
        value={search.action ?? null}
        onChange={(action) => onChange({ action: action ?? undefined })}
        comboboxProps={{ width: 420, position: "bottom-start" }}
      />
      <SegmentedControl
        size="xs"
        aria-label={t`Outcome`}
        value={search.outcome ?? "all"}
        onChange={(next) => onChange({ outcome: next === "all" ? undefined : (next as "done" | "refused") })}
        data={[
          { value: "all", label: t`All` },
          { value: "done", label: t`Done` },
          { value: "refused", label: t`Refused` },
        ]}
      />
      <Popover position="bottom-end" trapFocus>
        <Popover.Target>
          <Button
            size="xs"
            variant={more > 0 ? "light" : "default"}
            leftSection={<IconFilter size={15} aria-hidden />}
          >
            {more > 0 ? t`More filters (${more})` : t`More filters`}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <Stack gap="xs" w={260}>
            {time(t`From`, "from")}
            {time(t`Until`, "to")}
            {field(t`Actor (e-mail or ID)`, "actor", "ada@example.org")}
            <Select
              size="xs"
              label={t`Object type`}
              clearable
              clearButtonProps={{ "aria-label": t`Any type` }}
              data={KINDS}
              value={search.object_kind ?? null}
              onChange={(kind) => onChange({ object_kind: kind ?? undefined })}
              comboboxProps={{ withinPortal: false }}
            />
            {field(t`Object ID`, "object_id", "")}
            {field(t`IP address`, "address", "192.0.2.7")}
          </Stack>
        </Popover.Dropdown>
      </Popover>
    </>
  );
}

/** Converts an instant from the URL to the value of a datetime-local input. */
export function localText(instant: string | undefined): string {
  if (!instant) return "";
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Converts the value of a datetime-local input to an instant for the URL. */
export function instantText(local: string): string | undefined {
  const at = new Date(local);
  return local === "" || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
