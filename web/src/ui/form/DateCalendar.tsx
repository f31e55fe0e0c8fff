import "@mantine/dates/styles.css";
import "dayjs/locale/ja";
import "dayjs/locale/ko";
import { useLingui } from "@lingui/react/macro";
import { DatePicker, DatesProvider } from "@mantine/dates";
import styles from "./DateField.module.css";
import { today, within } from "./parse-date";

interface Props {
  /** As YYYY-MM-DD; "" is none. */
  value: string;
  onChange: (date: string) => void;
  /** The first and last allowed dates; "" allows all. */
  min: string;
  max: string;
}

/** Languages that write the year first. */
const MONTHS: Readonly<Record<string, string>> = { ko: "YYYY년 MMMM", ja: "YYYY年MMMM" };

/** A calendar whose arrow keys move among the days; the chosen day or today has the focus at first. */
export function DateCalendar({ value, onChange, min, max }: Props) {
  const { t, i18n } = useLingui();
  const locale = i18n.locale;
  const first = value || within(today(), min, max);
  return (
    <DatesProvider settings={{ locale, firstDayOfWeek: locale === "en" ? 1 : 0 }}>
      <DatePicker
        size="xs"
        hideOutsideDates
        defaultDate={first}
        getDayProps={(date) => ({ "data-autofocus": date === first || undefined })}
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
