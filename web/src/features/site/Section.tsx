import { type InputWrapperProps, Paper, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

/** Descriptions below their inputs, where the defaults line up. */
export const BELOW: InputWrapperProps["inputWrapperOrder"] = ["label", "input", "description", "error"];

/** A group of settings. */
export function Section({ title, text, children }: { title: string; text?: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md" component="section" data-settings>
      <Title order={2} size="h4">
        {title}
      </Title>
      {text && (
        <Text size="sm" c="dimmed">
          {text}
        </Text>
      )}
      <Stack gap="md" mt="sm">
        {children}
      </Stack>
    </Paper>
  );
}
