import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Checkbox, Popover, Stack, Tooltip } from "@mantine/core";
import { IconColumns3 } from "@tabler/icons-react";
import { type Column, usualColumns } from "./column";

interface Props {
  columns: readonly Column<never>[];
  chosen: string[];
  onChange: (keys: string[]) => void;
}

/** Selects the visible columns of a list. */
export function ColumnMenu({ columns, chosen, onChange }: Props) {
  const { t, i18n } = useLingui();
  const keys = columns.map((column) => column.key);
  return (
    <Popover position="bottom-end" trapFocus>
      <Popover.Target>
        <Tooltip label={t`Columns`}>
          <ActionIcon variant="subtle" color="gray" aria-label={t`Columns`}>
            <IconColumns3 size={18} stroke={1.6} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          {columns.map(({ key, title, shown }) => (
            <Checkbox
              key={key}
              size="xs"
              label={i18n._(title)}
              checked={chosen.includes(key)}
              disabled={shown === "always"}
              onChange={(event) => {
                const on = event.currentTarget.checked;
                onChange(keys.filter((one) => (one === key ? on : chosen.includes(one))));
              }}
            />
          ))}
          <Button size="compact-xs" variant="subtle" onClick={() => onChange(usualColumns(columns))}>
            <Trans>Reset</Trans>
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
