import type { Text as Doc } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Text, useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { Problem } from "@/api/problem";
import type { Folder } from "@/api/types";
import { useWriteFile } from "@/queries/files";
import { MainButton } from "@/ui/MainButton";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { EditConflictDialog } from "./EditConflictDialog";
import { openEditor, textOf } from "./editor";
import styles from "./Preview.module.css";
import { baseName, copyName, join, parentOf } from "./paths";

interface Props {
  folder: Folder;
  path: string;
  text: string;
  etag: string | null;
  refusal: string | null;
  onChanged: (changed: boolean) => void;
  /** Discards the changes and reloads the file. */
  onReload: () => void;
  onMoved: (path: string) => void;
  onClose: () => void;
}

/** Maximum number of copy names to try. */
const MOST_COPIES = 100;

const isConflict = (problem: unknown): boolean => problem instanceof Problem && problem.status === 412;

/** Text editor of a file. Saves only over the version that was read, unless the user confirms. */
export function Editor({ folder, path, text, etag, refusal, onChanged, onReload, onMoved, onClose }: Props) {
  const { t } = useLingui();
  const dark = useComputedColorScheme() === "dark";
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const known = useRef(etag);
  const draft = useRef(text);
  const saved = useRef<Doc | null>(null);
  const write = useWriteFile();
  const [dirty, setDirty] = useState(false);
  const name = baseName(path);
  const mark = (changed: boolean) => {
    setDirty(changed);
    onChanged(changed);
  };

  /** over: replace any version. */
  const save = (over = false) => {
    if (!view.current || refusal !== null || write.isPending) return;
    const doc = view.current.state.doc;
    write.mutate(
      {
        folder: folder.id,
        path,
        text: textOf(view.current),
        etag: over ? undefined : (known.current ?? undefined),
      },
      {
        onSuccess: (entry) => {
          known.current = entry.etag;
          saved.current = doc;
          mark(view.current !== null && !view.current.state.doc.eq(doc));
        },
      },
    );
  };
  const saveCopy = (number = 1) => {
    if (!view.current) return;
    const beside = join(parentOf(path), copyName(name, number));
    write.mutate(
      { folder: folder.id, path: beside, text: textOf(view.current), etag: null },
      {
        onSuccess: () => onMoved(beside),
        onError: (problem) => isConflict(problem) && number < MOST_COPIES && saveCopy(number + 1),
      },
    );
  };
  const acts = useRef({ save, mark });
  acts.current = { save, mark };

  useEffect(() => {
    if (!parent.current) return;
    const opened = openEditor({
      parent: parent.current,
      name,
      text: draft.current,
      label: name,
      dark,
      readOnly: refusal !== null,
      onSave: () => acts.current.save(),
      onChange: () => acts.current.mark(!saved.current?.eq(opened.state.doc)),
    });
    saved.current ??= opened.state.doc;
    view.current = opened;
    opened.focus();
    return () => {
      // A theme change creates a new editor with the unsaved text.
      draft.current = textOf(opened);
      view.current = null;
      opened.destroy();
    };
  }, [name, dark, refusal]);

  const conflict = isConflict(write.error);
  return (
    <>
      <div ref={parent} className={styles.editor} data-dirty={dirty || undefined} />
      {write.error && !conflict && <ProblemAlert problem={write.error} />}
      <Group justify="space-between" mt="sm">
        <Text size="xs" c="dimmed" role="status">
          {refusal ?? (write.isPending ? t`Saving…` : dirty ? t`Not saved` : t`Saved`)}
        </Text>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={onClose}>
            <Trans>Close</Trans>
          </Button>
          <MainButton
            label={t`Save`}
            refusal={refusal ?? (dirty ? null : t`No changes.`)}
            loading={write.isPending}
            onClick={() => save()}
          />
        </Group>
      </Group>
      <EditConflictDialog
        opened={conflict}
        name={name}
        copy={copyName(name)}
        onReload={onReload}
        onOverwrite={() => save(true)}
        onCopy={() => saveCopy()}
        onClose={() => write.reset()}
      />
    </>
  );
}
