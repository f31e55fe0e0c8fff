import "@mantine/dates/styles.css";
import "dayjs/locale/ja";
import "dayjs/locale/ko";
import { useLingui } from "@lingui/react/macro";
import { DateInput, DatesProvider } from "@mantine/dates";
import styles from "./DateField.module.css";
import { parseDate } from "./parse-date";

interface Props {
  label: string;
  /** As YYYY-MM-DD; "" is empty. */
  value: string;
  onChange: (date: string) => void;
  /** The first and last allowed dates; "" allows all. */
  min?: string;
  max?: string;
}

/** Languages that write the year first. */
const MONTHS: Readonly<Record<string, string>> = { ko: "YYYY년 MMMM", ja: "YYYY年MMMM" };

/** A date, typed or chosen from a calendar. */
export function DateField({ label, value, onChange, min, max }: Props) {
  const { t, i18n } = useLingui();
  const locale = i18n.locale;
  return (
    <DatesProvider settings={{ locale, firstDayOfWeek: locale === "en" ? 1 : 0 }}>
      <DateInput
        size="xs"
        w={150}
        aria-label={label}
        placeholder={t`YYYY-MM-DD`}
        valueFormat="YYYY-MM-DD"
        dateParser={parseDate}
        hideOutsideDates
        clearable
        clearButtonProps={{ "aria-label": t`Clear: ${label}` }}
        classNames={{ day: styles.day }}
        monthLabelFormat={MONTHS[locale]}
        ariaLabels={{
          previousMonth: t`Previous month`,
          nextMonth: t`Next month`,
          previousYear: t`Previous year`,
          nextYear: t`Next year`,
          previousDecade: t`Previous decade`,
          nextDecade: t`Next decade`,
        }}
        minDate={min || undefined}
        maxDate={max || undefined}
        value={value || null}
        onChange={(date) => onChange(date ?? "")}
      />
    </DatesProvider>
  );
}
