import { Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";

/** Empty state with the next step. */
export function EmptyState({ title, text, action }: { title: string; text?: string; action?: ReactNode }) {
  return (
    <Stack align="center" gap="xs" py={48} px="md">
      <svg width="72" height="48" viewBox="0 0 72 48" aria-hidden="true" focusable="false">
        <path d="M6 42h60" stroke="var(--carrel-line-strong)" strokeWidth="2" strokeLinecap="round" />
        <path d="M35 42V22h2v20" stroke="var(--carrel-brass)" strokeWidth="2" />
        <path
          d="M20 22c0-9 7-15 16-15s16 6 16 15z"
          fill="var(--carrel-accent-soft)"
          stroke="var(--carrel-accent)"
        />
        <path
          d="M12 42v-3h12v3M48 42v-5h10v5"
          stroke="var(--carrel-line-strong)"
          fill="none"
          strokeWidth="2"
        />
      </svg>
      <Text fw={600}>{title}</Text>
      {text && (
        <Text size="sm" c="dimmed" ta="center" maw={420}>
          {text}
        </Text>
      )}
      {action}
    </Stack>
  );
}
