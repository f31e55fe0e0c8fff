import { Button, type ButtonProps, Tooltip } from "@mantine/core";
import type { ReactNode } from "react";

interface Props extends ButtonProps {
  /** Why the button is disabled; null if it is enabled. */
  refusal: string | null;
  children: ReactNode;
  onClick: () => void;
}

/** A button that stays focusable when disabled, to show the reason. */
export function OwnButton({ refusal, onClick, children, ...looks }: Props) {
  return (
    <Tooltip label={refusal} disabled={refusal === null}>
      <Button
        size="xs"
        {...looks}
        aria-disabled={refusal !== null || undefined}
        aria-description={refusal ?? undefined}
        data-disabled={refusal !== null || undefined}
        onClick={refusal === null ? onClick : undefined}
      >
        {children}
      </Button>
    </Tooltip>
  );
}
