import { useLingui } from "@lingui/react/macro";
import { Button, Popover, SegmentedControl, Select, Stack, TextInput } from "@mantine/core";
import { IconFilter } from "@tabler/icons-react";
import type { Ref } from "react";
import type { AuditSearch } from "@/routing/search";
import { useKindText } from "@/sentences/kinds";
import { SearchBox } from "@/ui/table/SearchBox";
import { ActionSelect } from "./ActionSelect";
import { PeriodSelect } from "./PeriodSelect";
import { AUDITED_KINDS } from "./sentences/nouns";

interface Props {
  ref: Ref<HTMLInputElement>;
  search: AuditSearch;
  onChange: (part: Partial<AuditSearch>) => void;
}

/** Filters of the audit trail. Rarely used filters are behind a button. */
export function AuditFilters({ ref, search, onChange }: Props) {
  const { t } = useLingui();
  return (
    <>
      <SearchBox
        ref={ref}
        label={t`Search by actor or object`}
        placeholder={t`Actor or object`}
        value={search.q}
        onChange={(q) => onChange({ q })}
      />
      <ActionSelect value={search.action} onChange={(action) => onChange({ action })} />
      <PeriodSelect search={search} onChange={onChange} />
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
      <MoreFilters search={search} onChange={onChange} />
    </>
  );
}

function MoreFilters({ search, onChange }: Omit<Props, "ref">) {
  const { t } = useLingui();
  const kindText = useKindText();
  const more = [search.actor, search.object_kind, search.object_id, search.address].filter(Boolean).length;
  const field = (label: string, key: "actor" | "object_id" | "address", placeholder: string) => (
    <TextInput
      size="xs"
      label={label}
      placeholder={placeholder}
      value={search[key] ?? ""}
      onChange={(event) => onChange({ [key]: event.currentTarget.value.trim() || undefined })}
    />
  );
  return (
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
          {field(t`Actor (e-mail or ID)`, "actor", "ada@example.org")}
          <Select
            size="xs"
            label={t`Object type`}
            clearable
            clearButtonProps={{ "aria-label": t`Any type` }}
            data={AUDITED_KINDS.map((kind) => ({ value: kind, label: kindText(kind) }))}
            value={search.object_kind ?? null}
            onChange={(kind) => onChange({ object_kind: kind ?? undefined })}
            comboboxProps={{ withinPortal: false }}
          />
          {field(t`Object ID`, "object_id", "")}
          {field(t`IP address`, "address", "192.0.2.7")}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
