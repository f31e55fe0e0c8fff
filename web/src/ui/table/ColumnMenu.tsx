import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Checkbox, Popover, Stack, Tooltip } from "@mantine/core";
import { IconColumns3 } from "@tabler/icons-react";
import { COLUMN_KEYS, COLUMN_NAMES, type ColumnKey, DEFAULT_COLUMNS } from "./column-keys";

export function ColumnMenu({
  chosen,
  onChange,
}: {
  chosen: ColumnKey[];
  onChange: (columns: ColumnKey[]) => void;
}) {
  const { t, i18n } = useLingui();
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
          {COLUMN_KEYS.map((key) => (
            <Checkbox
              key={key}
              size="xs"
              label={i18n._(COLUMN_NAMES[key])}
              checked={chosen.includes(key)}
              disabled={key === "name"}
              onChange={(event) => {
                const on = event.currentTarget.checked;
                onChange(COLUMN_KEYS.filter((one) => (one === key ? on : chosen.includes(one))));
              }}
            />
          ))}
          <Button size="compact-xs" variant="subtle" onClick={() => onChange(DEFAULT_COLUMNS)}>
            <Trans>Reset</Trans>
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
