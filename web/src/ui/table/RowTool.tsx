import { ActionIcon, Tooltip } from "@mantine/core";
import type { IconTrash } from "@tabler/icons-react";

interface Props {
  label: string;
  /** Name of the row, so that screen readers can tell the buttons of two rows apart. */
  row: string;
  icon: typeof IconTrash;
  color?: string;
  /** Why the button is disabled; null or absent if it is enabled. */
  refusal?: string | null;
  onClick: () => void;
}

/** A row button that stays focusable when disabled, to show the reason. */
export function RowTool({ label, row, icon: Icon, color = "gray", refusal, onClick }: Props) {
  return (
    <Tooltip label={refusal ? `${label}: ${refusal}` : label} multiline maw={280}>
      <ActionIcon
        variant="subtle"
        color={color}
        aria-label={refusal ? `${label}: ${row}. ${refusal}` : `${label}: ${row}`}
        aria-disabled={refusal ? true : undefined}
        data-disabled={refusal ? true : undefined}
        onClick={refusal ? undefined : onClick}
      >
        <Icon size={17} stroke={1.7} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
