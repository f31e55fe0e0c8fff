import { Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import panel from "@/ui/Panel.module.css";
import styles from "./Dashboard.module.css";

interface Props {
  title: string;
  /** What the figures refer to. */
  about?: string;
  wide?: boolean;
  children: ReactNode;
}

/** A dashboard card. */
export function Card({ title, about, wide, children }: Props) {
  return (
    <section className={wide ? `${panel.panel} ${styles.wide}` : panel.panel} aria-label={title}>
      <Stack gap="sm">
        <div>
          <Title order={2} size="h4">
            {title}
          </Title>
          {about && (
            <Text size="xs" c="dimmed">
              {about}
            </Text>
          )}
        </div>
        {children}
      </Stack>
    </section>
  );
}
