import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, FileButton, Group, List, Progress, Stack, Text, Tooltip } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconPlayerPause, IconPlayerPlay, IconRefresh, IconX } from "@tabler/icons-react";
import { useProblemText } from "@/sentences/use-problem-text";
import styles from "@/ui/Card.module.css";
import { formatSize } from "@/ui/format";
import type { Batch } from "./batches";
import { uploads } from "./queue";
import type { UploadItem } from "./tasks";

/** More would hide the rest; the folder shows what is complete. */
const MOST = 20;

interface Props {
  batch: Batch;
  /** Absent on the page of the folder itself. */
  onOpen?: (folder: string) => void;
}

/** One upload batch: progress, pause, resume and cancel. */
export function UploadCard({ batch, onOpen }: Props) {
  const { t } = useLingui();
  const { key, folder, items, done, state } = batch;
  const percent = batch.totalBytes > 0 ? Math.round((100 * batch.sentBytes) / batch.totalBytes) : 100;
  const sending = items.filter((one) => one.state === "sending");
  const name = items.length === 1 ? (items[0]?.path ?? "") : folder.name;
  const tools = [
    state === "open" && { label: t`Pause`, icon: IconPlayerPause, act: () => uploads.pause(key) },
    state === "paused" && { label: t`Resume`, icon: IconPlayerPlay, act: () => uploads.resume(key) },
    state === "failed" && { label: t`Try again`, icon: IconRefresh, act: () => uploads.retry(key) },
    {
      label: state === "over" ? t`Remove from the list` : t`Cancel`,
      icon: IconX,
      act: () => uploads.cancel(key),
    },
  ].filter((tool) => tool !== false);
  return (
    <Stack gap={4} className={styles.card} component="article" aria-label={t`Upload to ${folder.name}`}>
      <Group justify="space-between" wrap="nowrap" gap="xs">
        {onOpen ? (
          <Button
            variant="transparent"
            size="compact-sm"
            p={0}
            color="gray"
            onClick={() => onOpen(folder.id)}
          >
            <Text size="sm" fw={600} truncate maw={220}>
              {name}
            </Text>
          </Button>
        ) : (
          <Text size="sm" fw={600} truncate title={name}>
            {items.length === 1 ? name : <Plural value={items.length} one="# file" other="# files" />}
          </Text>
        )}
        <Group gap={0} wrap="nowrap">
          {tools.map(({ label, icon: Icon, act }) => (
            <Tooltip key={label} label={label}>
              <ActionIcon
                variant="subtle"
                color="gray"
                size="sm"
                aria-label={`${label}: ${name}`}
                onClick={act}
              >
                <Icon size={15} aria-hidden />
              </ActionIcon>
            </Tooltip>
          ))}
        </Group>
      </Group>
      {state !== "over" && state !== "lost" && (
        <Progress size="sm" value={percent} aria-label={t`Upload to ${folder.name}: ${percent}%`} />
      )}
      <Text size="xs" c="dimmed">
        {state === "lost" ? (
          <Trans>This upload started before the page was reloaded. Select the file again to resume.</Trans>
        ) : (
          <Trans>
            {done} of <Plural value={items.length} one="# file" other="# files" />,{" "}
            {formatSize(batch.sentBytes)} of {formatSize(batch.totalBytes)}
          </Trans>
        )}
      </Text>
      {(items.length > 1 ? sending.slice(0, 3) : []).map((item) => (
        <Text key={item.key} size="xs" c="dimmed" truncate>
          {item.path}
        </Text>
      ))}
      <Troubles items={batch.troubles} />
    </Stack>
  );
}

function Troubles({ items }: { items: UploadItem[] }) {
  const { t } = useLingui();
  const problemText = useProblemText();
  if (items.length === 0) return null;
  const chosen = (item: UploadItem, file: File | null) => {
    if (!file || uploads.resumeLost(item.key, file)) return;
    notifications.show({
      color: "red",
      title: t`Different file`,
      message: t`${item.path} was started with a file of a different name, size or date.`,
    });
  };
  return (
    <List size="xs" listStyleType="none" spacing={4} style={{ overflowWrap: "anywhere" }}>
      {items.slice(0, MOST).map((item) => (
        <List.Item key={item.key}>
          <b>{item.path}</b>
          {item.state === "lost" ? (
            <FileButton onChange={(file) => chosen(item, file)}>
              {(props) => (
                <Button
                  {...props}
                  size="compact-xs"
                  variant="default"
                  ms={6}
                  aria-label={t`Select ${item.path} again`}
                >
                  <Trans>Select file</Trans>
                </Button>
              )}
            </FileButton>
          ) : (
            <Text span inherit c="var(--carrel-bad)">
              {" "}
              {problemText(item.problem).detail}
            </Text>
          )}
        </List.Item>
      ))}
    </List>
  );
}
