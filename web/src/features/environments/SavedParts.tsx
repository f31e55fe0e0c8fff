import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { List, Stack, Text } from "@mantine/core";
import type { SavePreview } from "@/api/types";
import { formatSize } from "@/ui/format";
import { LEFT_OUT } from "./words";

/** What an image of a session has and what is in no layer of it. */
export function SavedParts({ preview }: { preview: SavePreview }) {
  const { i18n } = useLingui();
  const { base, changed_bytes, folders, variables, files, left_out } = preview;
  const changed = changed_bytes === null ? null : formatSize(changed_bytes);
  return (
    <Stack gap="xs">
      <Text size="sm">
        <Trans>
          Keeps all files that the session has added or changed since it was started from <b>{base}</b>.
        </Trans>{" "}
        {changed !== null && <Trans>It has written {changed}.</Trans>}{" "}
        <Trans>The session pauses for a moment, and goes on.</Trans>
      </Text>
      <Text size="sm" fw={600}>
        <Trans>Left out:</Trans>
      </Text>
      <List size="sm" spacing={4}>
        <Left words={folders}>
          <Plural value={folders.length} one="Content of # folder" other="Content of # folders" />
        </Left>
        <Left words={variables}>
          <Plural value={variables.length} one="# variable" other="# variables" />
        </Left>
        <Left words={files}>
          <Plural value={files.length} one="# initial file" other="# initial files" />
        </Left>
        {left_out.map(({ kind, paths }) => (
          <Left key={kind} words={paths}>
            {i18n._(LEFT_OUT[kind])}
          </Left>
        ))}
      </List>
      <Text size="sm" c="dimmed">
        <Trans>Whoever starts from it can read everything else, such as a password in a file of yours.</Trans>
      </Text>
    </Stack>
  );
}

function Left({ words, children }: { words: string[]; children: React.ReactNode }) {
  if (words.length === 0) return null;
  return (
    <List.Item>
      {children}{" "}
      <Text span size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
        {words.join(", ")}
      </Text>
    </List.Item>
  );
}
