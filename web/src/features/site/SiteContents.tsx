import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Stack, Text, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { type RefObject, useEffect, useState } from "react";
import styles from "./SitePage.module.css";

interface Entry {
  title: string;
  section: HTMLElement;
}

/** Search and contents of the settings in `host`. Hides the sections without the searched text. */
export function SiteContents({ host }: { host: RefObject<HTMLElement | null> }) {
  const { t, i18n } = useLingui();
  const [query, setQuery] = useState("");
  const [shown, setShown] = useState<Entry[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of language changes the text of the sections
  useEffect(() => {
    const sections = [...(host.current?.querySelectorAll<HTMLElement>("[data-settings]") ?? [])];
    for (const section of sections) section.hidden = !holds(section, query);
    setShown(
      sections
        .filter((section) => !section.hidden)
        .map((section) => ({ title: section.querySelector("h2")?.textContent ?? "", section })),
    );
  }, [host, query, i18n.locale]);
  return (
    <aside className={styles.aside} aria-label={t`Contents`}>
      <TextInput
        type="search"
        size="xs"
        aria-label={t`Search settings`}
        placeholder={t`Search settings`}
        leftSection={<IconSearch size={15} aria-hidden />}
        value={query}
        onChange={(event) => setQuery(event.currentTarget.value)}
      />
      {shown.length === 0 && (
        <Text size="sm" mt="xs" role="status">
          <Trans>No setting matches this search.</Trans>
        </Text>
      )}
      <Stack component="nav" aria-label={t`Sections`} gap={6} mt="sm" className={styles.contents}>
        {shown.map(({ title, section }) => (
          <Anchor key={title} component="button" type="button" size="sm" onClick={() => turnTo(section)}>
            {title}
          </Anchor>
        ))}
      </Stack>
    </aside>
  );
}

function holds(section: HTMLElement, query: string): boolean {
  return (section.textContent ?? "").toLocaleLowerCase().includes(query.trim().toLocaleLowerCase());
}

function turnTo(section: HTMLElement): void {
  section.scrollIntoView({ block: "start" });
  section.querySelector<HTMLElement>("input, textarea, button")?.focus({ preventScroll: true });
}
