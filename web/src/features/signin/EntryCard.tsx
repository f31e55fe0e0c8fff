import { useLingui } from "@lingui/react/macro";
import { Anchor, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { signInOptionsQuery } from "@/queries/auth";
import { Logo } from "@/ui/Logo";
import { PageTitle } from "@/ui/PageTitle";
import { usePageTitle } from "@/ui/use-page-title";
import styles from "./Entry.module.css";
import { LanguageChoice } from "./LanguageChoice";

// Loaded lazily: most installations have no announcement.
const Markdown = lazy(async () => ({ default: (await import("@/ui/Markdown")).Markdown }));

interface Props {
  title: string;
  /** Description below the title. */
  text?: ReactNode;
  children: ReactNode;
  /** Shows a link back to the sign-in page. */
  back?: boolean;
}

/** The frame of the pages before sign-in. */
export function EntryCard({ title, text, children, back = false }: Props) {
  const { t } = useLingui();
  const { data: greeting } = useQuery(signInOptionsQuery);
  usePageTitle(title);
  return (
    <div className={styles.page}>
      <main className={styles.card}>
        <Stack gap="lg">
          <Group gap="sm">
            <Logo size={32} />
            <Text component="span" fz="lg" fw={600}>
              Carrel
            </Text>
          </Group>
          {greeting?.announcement && (
            <section className={styles.announcement} aria-label={t`Announcement`}>
              <Suspense>
                <Markdown text={greeting.announcement} />
              </Suspense>
            </section>
          )}
          <Stack gap={4}>
            <PageTitle>{title}</PageTitle>
            {text && (
              <Text size="sm" c="dimmed" component="div">
                {text}
              </Text>
            )}
          </Stack>
          {children}
          {back && (
            <Anchor component={Link} to="/signin" size="sm">
              {t`Back to sign-in`}
            </Anchor>
          )}
          <LanguageChoice />
        </Stack>
      </main>
    </div>
  );
}
