import { ActionIcon, Tooltip } from "@mantine/core";
import type { IconTrash } from "@tabler/icons-react";

interface Props {
  label: string;
  /** What the row is called, so that a screen reader can tell the buttons of two rows apart. */
  row: string;
  icon: typeof IconTrash;
  color?: string;
  /** Why it cannot be pressed; null or absent when it can. */
  refusal?: string | null;
  onClick: () => void;
}

/** A button at the end of a row. One that is refused stays within reach of the keyboard, to say why. */
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
