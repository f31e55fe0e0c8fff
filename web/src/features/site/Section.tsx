import { type InputWrapperProps, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import panel from "@/ui/Panel.module.css";

/** Descriptions below their inputs, where the defaults line up. */
export const BELOW: InputWrapperProps["inputWrapperOrder"] = ["label", "input", "description", "error"];

/** A group of settings. */
export function Section({ title, text, children }: { title: string; text?: string; children: ReactNode }) {
  return (
    <section className={panel.panel} data-settings>
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
    </section>
  );
}
