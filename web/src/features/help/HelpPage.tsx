import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Group, Stack, Text, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { Link, useLocation, useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { EmptyState } from "@/ui/EmptyState";
import { DocumentText } from "./DocumentText";
import { DOCUMENTS, type Match, searched } from "./documents";
import styles from "./Help.module.css";

/** The documentation of this version, with a search; it needs no network. */
export function HelpPage() {
  const { t } = useLingui();
  const { _splat: path = "" } = useParams({ strict: false });
  const hash = useLocation({ select: (here) => here.hash });
  const [query, setQuery] = useState("");
  const shown = DOCUMENTS.get(path.replace(/\/$/, ""));
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page ends the search and begins at its top
  useEffect(() => {
    setQuery("");
    document.getElementById(hash || "help")?.scrollIntoView({ block: "start" });
  }, [path, hash]);
  return (
    <div id="help" className={styles.area}>
      <Group justify="space-between" mb="md">
        {path ? (
          <Anchor component={Link} to="/help" size="sm">
            <Trans>All documentation</Trans>
          </Anchor>
        ) : (
          <span />
        )}
        <TextInput
          type="search"
          aria-label={t`Search the documentation`}
          placeholder={t`Search the documentation`}
          leftSection={<IconSearch size={15} aria-hidden />}
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
          className={styles.search}
        />
      </Group>
      {query.trim() ? (
        <Matches matches={searched(query)} />
      ) : shown ? (
        <DocumentText document={shown} />
      ) : (
        <EmptyState title={t`Page not found`} text={t`The link may be out of date or mistyped.`} />
      )}
    </div>
  );
}

function Matches({ matches }: { matches: Match[] }) {
  const { t } = useLingui();
  if (matches.length === 0) return <EmptyState title={t`Nothing found`} />;
  return (
    <Stack component="ul" gap="md" className={styles.matches} aria-label={t`Results`} lang="en">
      {matches.map(({ document, line }) => (
        <li key={document.path}>
          <Link to="/help/$" params={{ _splat: document.path }} className={styles.title}>
            {document.title}
          </Link>
          <Text size="sm" c="dimmed" lineClamp={2}>
            {line}
          </Text>
        </li>
      ))}
    </Stack>
  );
}
