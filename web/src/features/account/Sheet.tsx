import { Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { PageTitle } from "@/ui/PageTitle";
import panel from "@/ui/Panel.module.css";
import { usePageTitle } from "@/ui/use-page-title";
import styles from "./SettingsPage.module.css";

/** A settings page without a list: title and panels. */
export function Sheet({ title, text, children }: { title: string; text?: ReactNode; children: ReactNode }) {
  usePageTitle(title);
  return (
    <div className={styles.sheet}>
      <Stack gap="md">
        <div>
          <PageTitle>{title}</PageTitle>
          {text && (
            <Text size="sm" c="dimmed" mt={4}>
              {text}
            </Text>
          )}
        </div>
        {children}
      </Stack>
    </div>
  );
}

interface PanelProps {
  title?: string;
  /** The hash that jumps to the panel. */
  path?: string;
  children: ReactNode;
}

/** One block of a settings page. */
export function Panel({ title, path, children }: PanelProps) {
  return (
    <section className={panel.panel} aria-label={title} data-path={path}>
      <Stack gap="sm">
        {title && (
          <Title order={2} size="h5">
            {title}
          </Title>
        )}
        {children}
      </Stack>
    </section>
  );
}
