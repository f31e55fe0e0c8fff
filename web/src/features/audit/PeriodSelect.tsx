import { useLingui } from "@lingui/react/macro";
import { Select } from "@mantine/core";
import { SPANS } from "@/routing/activity-span";
import type { AuditSearch, AuditSpan } from "@/routing/search";
import { useSpanNames } from "@/routing/use-span-names";
import { DateField } from "@/ui/form/DateField";
import { dateText, endOf, lastDateText, startOf } from "./filter";

interface Props {
  search: AuditSearch;
  onChange: (part: Partial<AuditSearch>) => void;
}

/** Selects a period: one that ends now, or two dates. */
export function PeriodSelect({ search, onChange }: Props) {
  const { t } = useLingui();
  const names = useSpanNames();
  const span: AuditSpan = search.span ?? (search.from || search.to ? "custom" : "all");
  const choose = (next: AuditSpan) =>
    onChange(
      next === "custom"
        ? { span: next }
        : { span: next === "all" ? undefined : next, from: undefined, to: undefined },
    );
  return (
    <>
      <Select
        size="xs"
        w={140}
        aria-label={t`Time range`}
        allowDeselect={false}
        data={[
          ...SPANS.map((value) => ({ value, label: names[value] })),
          { value: "custom", label: t`Custom…` },
        ]}
        value={span}
        onChange={(next) => next && choose(next as AuditSpan)}
      />
      {span === "custom" && (
        <>
          <DateField
            label={t`From`}
            max={lastDateText(search.to)}
            value={dateText(search.from)}
            onChange={(date) => onChange({ span: "custom", from: startOf(date) })}
          />
          <DateField
            label={t`Until`}
            min={dateText(search.from)}
            value={lastDateText(search.to)}
            onChange={(date) => onChange({ span: "custom", to: endOf(date) })}
          />
        </>
      )}
    </>
  );
}
