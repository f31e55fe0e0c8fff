import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Group, Popover, TextInput, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconCalendar, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { DateCalendar } from "./DateCalendar";
import { isDateWithin, parseDate } from "./parse-date";

interface Props {
  label: string;
  /** As YYYY-MM-DD; "" is empty. */
  value: string;
  onChange: (date: string) => void;
  /** The first and last allowed dates; "" allows all. */
  min?: string;
  max?: string;
}

/** A date, typed or chosen from a calendar, which a button or Alt+Down opens. */
export function DateField({ label, value, onChange, min = "", max = "" }: Props) {
  const { t } = useLingui();
  const [opened, { open, close, toggle }] = useDisclosure(false);
  /** What is being typed; null if nothing is. */
  const [typed, setTyped] = useState<string | null>(null);
  const type = (text: string) => {
    setTyped(text);
    const date = parseDate(text);
    if (text.trim() === "") onChange("");
    else if (date !== null && isDateWithin(date, min, max)) onChange(date);
  };
  const clearLabel = t`Clear: ${label}`;
  const calendarLabel = t`Calendar: ${label}`;
  return (
    <TextInput
      size="xs"
      w={160}
      aria-label={label}
      placeholder={t`YYYY-MM-DD`}
      autoComplete="off"
      value={typed ?? value}
      onChange={(event) => type(event.currentTarget.value)}
      onBlur={() => setTyped(null)}
      onKeyDown={(event) => {
        if (event.key !== "ArrowDown" || !event.altKey) return;
        event.preventDefault();
        open();
      }}
      rightSectionWidth={value ? 56 : 30}
      rightSection={
        <Group gap={2} wrap="nowrap">
          {value && (
            <Tooltip label={clearLabel}>
              <ActionIcon
                variant="subtle"
                color="gray"
                size="sm"
                aria-label={clearLabel}
                onClick={() => onChange("")}
              >
                <IconX size={14} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
          <Popover
            opened={opened}
            onChange={(open) => !open && close()}
            trapFocus
            returnFocus
            position="bottom-end"
          >
            <Popover.Target>
              <ActionIcon variant="subtle" color="gray" size="sm" aria-label={calendarLabel} onClick={toggle}>
                <IconCalendar size={14} aria-hidden />
              </ActionIcon>
            </Popover.Target>
            <Popover.Dropdown>
              <DateCalendar
                value={value}
                min={min}
                max={max}
                onChange={(date) => {
                  onChange(date);
                  close();
                }}
              />
            </Popover.Dropdown>
          </Popover>
        </Group>
      }
    />
  );
}
