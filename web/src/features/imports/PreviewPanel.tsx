import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Badge, Group, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Preview } from "@/queries/imports";
import { CopyButton } from "@/ui/CopyButton";
import { Facts } from "@/ui/Facts";
import styles from "./ImportPage.module.css";
import { KIND_NAMES, WARNINGS } from "./words";

/** What an import would do: from where, where to, and by which script. */
export function PreviewPanel({ preview, action }: { preview: Preview; action: ReactNode }) {
  const { t, i18n } = useLingui();
  const { kind, host, url, repository, ref, path, target, image, opens, variable, warnings, script } =
    preview;
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Badge variant="light">{i18n._(KIND_NAMES[kind])}</Badge>
        <Text fw={600} className={styles.address}>
          {host}
        </Text>
      </Group>
      <Facts
        facts={[
          [t`Fetches`, [url, repository].filter(Boolean).join(" ")],
          [t`Branch, tag or commit`, ref !== "" && ref],
          [t`File or directory`, path !== "" && path],
          [t`Into`, target],
          [t`Image`, image],
          [t`Opens`, opens !== null && `JupyterLab ${opens.replace("/lab/tree/", "")}`],
          [t`Secret variable`, variable],
        ]}
      />
      {warnings.map((word) => (
        <Alert key={word} color="yellow" p="xs">
          {i18n._(WARNINGS[word])}
        </Alert>
      ))}
      <div>
        <Group justify="space-between" mb={4}>
          <Text size="sm" fw={500}>
            <Trans>The session runs this script</Trans>
          </Text>
          <CopyButton text={script} label={t`Copy script`} />
        </Group>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
        <section className={styles.script} aria-label={t`Script`} tabIndex={0}>
          {script}
        </section>
      </div>
      {action}
    </Stack>
  );
}
