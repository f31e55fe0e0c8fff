import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Modal, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useBlocker } from "@tanstack/react-router";
import { useState } from "react";
import type { Folder } from "@/api/types";
import { editedQuery, MOST_EDITED } from "@/queries/files";
import { EmptyState } from "@/ui/EmptyState";
import { formatSize } from "@/ui/format";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { Editor } from "./Editor";
import { baseName, shownName } from "./paths";
import { decoded } from "./text";

interface Props {
  folder: Folder;
  path: string;
  /** Why saving is refused; null if it is allowed. */
  refusal: string | null;
  /** Called when the file was saved under another path. */
  onMoved: (path: string) => void;
  onClose: () => void;
}

/** Full-window text editor. Asks before it discards unsaved changes. */
export function EditorWindow({ folder, path, refusal, onMoved, onClose }: Props) {
  const { t } = useLingui();
  const [changed, setChanged] = useState(false);
  const [round, setRound] = useState(0);
  // Always refetch: saving a stale text would overwrite newer changes.
  const query = useQuery(editedQuery(folder.id, path, round));
  const blocker = useBlocker({
    shouldBlockFn: ({ next }) => changed && !("edit" in next.search && next.search.edit),
    enableBeforeUnload: () => changed,
    withResolver: true,
  });
  const text = query.data?.complete ? decoded(query.data.bytes, true) : null;
  const reload = () => {
    setChanged(false);
    setRound(round + 1);
  };
  return (
    <Modal
      opened
      onClose={onClose}
      closeOnEscape={false}
      closeOnClickOutside={false}
      size="75rem"
      title={shownName(baseName(path))}
      closeButtonProps={{ "aria-label": t`Close` }}
      styles={{ body: { height: "80dvh", display: "flex", flexDirection: "column" } }}
    >
      {query.isPending && <Skeleton height="100%" aria-busy />}
      {query.isError && <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />}
      {query.data && text === null && (
        <EmptyState
          title={t`This file cannot be edited here`}
          text={
            query.data.complete
              ? t`It is not a text file.`
              : t`The file is larger than ${formatSize(MOST_EDITED)}.`
          }
        />
      )}
      {text !== null && query.data && (
        <Editor
          key={round}
          folder={folder}
          path={path}
          text={text}
          etag={query.data.etag}
          refusal={refusal}
          onChanged={setChanged}
          onReload={reload}
          onMoved={(next) => {
            setChanged(false);
            onMoved(next);
          }}
          onClose={onClose}
        />
      )}
      <Modal
        opened={blocker.status === "blocked"}
        onClose={() => blocker.reset?.()}
        title={t`Unsaved changes`}
        closeButtonProps={{ "aria-label": t`Continue editing` }}
      >
        <Stack>
          <Text size="sm">
            <Trans>If you leave now, your changes are lost.</Trans>
          </Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={() => blocker.reset?.()} data-autofocus>
              <Trans>Continue editing</Trans>
            </Button>
            <Button color="red" onClick={() => blocker.proceed?.()}>
              <Trans>Leave without saving</Trans>
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Modal>
  );
}
