import { Button, Tooltip } from "@mantine/core";
import type { IconPlus } from "@tabler/icons-react";

interface Props {
  label: string;
  icon?: typeof IconPlus;
  variant?: string;
  color?: string;
  /** Why the button is disabled; null or absent if it is enabled. */
  refusal?: string | null;
  loading?: boolean;
  onClick: () => void;
}

/** A button that stays focusable when disabled, to show the reason. */
export function MainButton({ label, icon: Icon, variant, color, refusal, loading, onClick }: Props) {
  return (
    <Tooltip label={refusal} disabled={!refusal} multiline maw={280}>
      <Button
        size="xs"
        variant={variant}
        color={color}
        loading={loading}
        leftSection={Icon && <Icon size={15} aria-hidden />}
        aria-label={refusal ? `${label}. ${refusal}` : undefined}
        aria-disabled={refusal ? true : undefined}
        data-disabled={refusal ? true : undefined}
        onClick={refusal ? undefined : onClick}
      >
        {label}
      </Button>
    </Tooltip>
  );
}
