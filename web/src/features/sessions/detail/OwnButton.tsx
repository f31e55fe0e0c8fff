import { Button, type ButtonProps, Tooltip } from "@mantine/core";
import type { ReactNode } from "react";

interface Props extends ButtonProps {
  /** Why it cannot be pressed; null when it can. */
  refusal: string | null;
  children: ReactNode;
  onClick: () => void;
}

/** A button that says why it is refused, and stays within reach of the keyboard for that. */
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
