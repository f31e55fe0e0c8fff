import { useLingui } from "@lingui/react/macro";
import { Button, Group, Select } from "@mantine/core";
import { IconDownload, IconPrinter } from "@tabler/icons-react";
import { useMemo } from "react";
import { useMe } from "@/me/use-me";
import type { StatisticsQuery } from "@/queries/usage";
import type { StatisticsSearch } from "@/routing/search";
import type { ChangeAddress } from "@/routing/use-address";
import { writing } from "@/ui/format";
import { PageTitle } from "@/ui/PageTitle";
import { statisticsFile } from "./file-address";
import { recentMonths } from "./period";
import styles from "./Statistics.module.css";
import { type Grouping, type StatisticsScope, scopeChoices } from "./scopes";
import { useByNames } from "./use-by-names";

interface Props {
  query: StatisticsQuery;
  month: string;
  /** Of whom the statistics are, once known. */
  name: string | undefined;
  onChange: ChangeAddress<StatisticsSearch>;
}

const keyOf = ({ scope, ref }: Pick<StatisticsScope, "scope" | "ref">) => `${scope}:${ref ?? ""}`;

/** The choice of whose statistics, by what and of which month; the file and the printer. */
export function StatisticsBar({ query, month, name, onChange }: Props) {
  const { t, i18n } = useLingui();
  const me = useMe();
  const byNames = useByNames();
  const chosen: StatisticsScope = { scope: query.scope, ref: query.ref, name };
  const choices = useMemo(() => scopeChoices(me), [me]);
  const all = choices.some((one) => keyOf(one) === keyOf(chosen)) ? choices : [...choices, chosen];
  const titleOf = ({ scope, ref, name: its }: StatisticsScope) => {
    if (scope === "user" && !ref) return t`My sessions`;
    if (scope === "site") return t`Installation`;
    return `${byNames[scope as Grouping]}: ${its ?? "…"}`;
  };
  const months = useMemo(() => {
    const written = new Intl.DateTimeFormat(writing(i18n.locale), {
      month: "long",
      year: "numeric",
      timeZone: "UTC",
    });
    const recent = recentMonths(new Date());
    const shown = recent.includes(month) ? recent : [...recent, month];
    return shown.map((value) => ({ value, label: written.format(Date.parse(`${value}-01`)) }));
  }, [i18n.locale, month]);
  return (
    <Group gap="sm" mb="sm" className={styles.bar}>
      <PageTitle>{t`Statistics`}</PageTitle>
      {all.length > 1 && (
        <Select
          size="xs"
          aria-label={t`Whose sessions`}
          allowDeselect={false}
          data={all.map((one) => ({ value: keyOf(one), label: titleOf(one) }))}
          value={keyOf(chosen)}
          onChange={(value) => {
            const next = all.find((one) => keyOf(one) === value);
            if (next) onChange({ scope: next.scope === "user" ? undefined : next.scope, ref: next.ref });
          }}
        />
      )}
      <Select
        size="xs"
        w={150}
        aria-label={t`Grouped by`}
        allowDeselect={false}
        data={Object.entries(byNames).map(([value, label]) => ({ value, label: t`By ${label}` }))}
        value={query.by}
        onChange={(by) => by && onChange({ by: by === "project" ? undefined : (by as Grouping) })}
      />
      <Select
        size="xs"
        w={160}
        aria-label={t`Month`}
        allowDeselect={false}
        data={months}
        value={month}
        onChange={(next) => next && onChange({ month: next === months[0]?.value ? undefined : next })}
      />
      <Group gap="xs" ms="auto" className={styles.tools}>
        <Button
          size="xs"
          variant="default"
          component="a"
          href={statisticsFile(query)}
          download
          leftSection={<IconDownload size={15} aria-hidden />}
        >
          CSV
        </Button>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPrinter size={15} aria-hidden />}
          onClick={() => window.print()}
        >
          {t`Print`}
        </Button>
      </Group>
    </Group>
  );
}
