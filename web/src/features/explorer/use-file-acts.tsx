import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { List, Stack } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMemo } from "react";
import { Problem, toProblem } from "@/api/problem";
import type { FileEntry, FilesDone, Folder } from "@/api/types";
import { permits } from "@/features/folders/words";
import type { Dropped } from "@/features/uploads/dropped";
import { uploads } from "@/features/uploads/queue";
import { saveFiles, useCopyFiles, useMakeDirectory, useMoveFiles, useRemoveFiles } from "@/queries/files";
import { useProblemText } from "@/sentences/use-problem-text";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { openFormDialog } from "@/ui/form/FormDialog";
import { askAboutClash } from "./ask-clash";
import { baseName, extensionOf, isWithin, join, parentOf } from "./paths";
import { TargetDialog } from "./TargetDialog";

const CLASH = "file.exists";

/** The actions on the files of a folder, with the reason for a refusal. */
export function useFileActs(folder: Folder) {
  const { t } = useLingui();
  const problemText = useProblemText();
  const { mutateAsync: make } = useMakeDirectory();
  const { mutateAsync: move } = useMoveFiles();
  const { mutateAsync: copy } = useCopyFiles();
  const { mutateAsync: remove } = useRemoveFiles();

  return useMemo(() => {
    const usable = folder.state === "READY" ? null : t`The folder is not ready.`;
    const whyNotWrite = permits(folder.my_permission, "rw")
      ? usable
      : t`You have read-only access to this folder.`;
    const whyNotRemove = permits(folder.my_permission, "rw-delete")
      ? usable
      : t`You have no permission to delete in this folder.`;
    const failed = (title: string, thrown: unknown) =>
      notifications.show({ color: "red", title, message: problemText(thrown).detail });
    const notifyRefused = (title: string, { refused }: FilesDone) => {
      if (refused.length === 0) return;
      notifications.show({
        color: "red",
        title,
        message: (
          <List size="sm" mah={160} style={{ overflow: "auto" }}>
            {refused.map(({ path, code, message }) => (
              <List.Item key={path}>
                {path}: {problemText(new Problem({ status: 409, code, detail: message })).detail}
              </List.Item>
            ))}
          </List>
        ),
      });
    };

    const moveTo = async (paths: string[], to: string) => {
      const moved = paths.filter((path) => parentOf(path) !== to && !isWithin(to, path));
      if (moved.length === 0) return;
      try {
        const done = await move({ folder: folder.id, paths: moved, to });
        const clashing = done.refused.filter(({ code }) => code === CLASH).map(({ path }) => path);
        notifyRefused(t`Some entries could not be moved`, {
          ...done,
          refused: done.refused.filter(({ code }) => code !== CLASH),
        });
        const choice = clashing.length > 0 ? await askAboutClash(clashing.map(baseName)) : null;
        if (choice) {
          notifyRefused(
            t`Some entries could not be moved`,
            await move({ folder: folder.id, paths: clashing, to, clash: choice }),
          );
        }
      } catch (thrown) {
        failed(t`Could not move`, thrown);
      }
    };
    const copyTo = async (from: string, paths: string[], to: string, into: string) => {
      try {
        await copy({ folder: from, paths, to, into: into === from ? undefined : into, clash: "rename" });
      } catch (thrown) {
        failed(t`Could not copy`, thrown);
      }
    };
    const rename = async (entry: FileEntry, name: string): Promise<boolean> => {
      const go = () =>
        move({ folder: folder.id, paths: [entry.path], rename_to: join(parentOf(entry.path), name) });
      try {
        const { refused } = await go();
        const no = refused[0];
        if (no) failed(t`Could not rename`, new Problem({ status: 409, code: no.code, detail: no.message }));
        return !no;
      } catch (thrown) {
        failed(t`Could not rename`, thrown);
        return false;
      }
    };

    return {
      folder,
      whyNotWrite,
      whyNotRemove,
      moveTo,
      copyTo,
      makeDirectory: async (path: string): Promise<unknown> => {
        try {
          await make({ folder: folder.id, path });
          return null;
        } catch (thrown) {
          return thrown;
        }
      },
      /** True if renamed; asks first when the file type would change. */
      rename: (entry: FileEntry, name: string): Promise<boolean> => {
        const [before, after] = [extensionOf(entry.name), extensionOf(name)];
        if (entry.kind !== "file" || before === after) return rename(entry, name);
        return new Promise((resolve) =>
          askToConfirm({
            title: t`Change the extension?`,
            closeLabel: t`Close`,
            confirm: t`Rename`,
            onClose: () => resolve(false),
            onConfirm: async () => resolve(await rename(entry, name)),
            children: (
              <Trans>
                <b>{entry.name}</b> becomes <b>{name}</b>. Programs may no longer recognize the file type.
              </Trans>
            ),
          }),
        );
      },
      remove: (entries: FileEntry[], onDone?: () => void) =>
        askToConfirm({
          title: t`Delete`,
          closeLabel: t`Close`,
          confirm: t`Delete`,
          onConfirm: async () => {
            const paths = entries.map(({ path }) => path);
            notifyRefused(t`Some entries could not be deleted`, await remove({ folder: folder.id, paths }));
            onDone?.();
          },
          children: (
            <Stack gap="xs">
              <Plural
                value={entries.length}
                one="This entry is deleted permanently:"
                other="These # entries are deleted permanently:"
              />
              <List size="sm" mah={200} style={{ overflow: "auto", overflowWrap: "anywhere" }}>
                {entries.slice(0, 50).map(({ path, kind }) => (
                  <List.Item key={path}>
                    {baseName(path)}
                    {kind === "directory" && ` ${t`and all its contents`}`}
                  </List.Item>
                ))}
              </List>
            </Stack>
          ),
        }),
      download: async (paths: string[]) => {
        try {
          await saveFiles(folder.id, paths);
        } catch (thrown) {
          failed(t`Could not download`, thrown);
        }
      },
      /** Asks for a target directory, and moves or copies there. */
      askWhere: (what: "move" | "copy", entries: FileEntry[]) =>
        openFormDialog({
          title: what === "move" ? t`Move to…` : t`Copy to…`,
          form: (close) => (
            <TargetDialog
              folder={folder}
              what={what}
              entries={entries}
              onCancel={close}
              onChosen={(into, to) => {
                close();
                const paths = entries.map(({ path }) => path);
                void (what === "move" ? moveTo(paths, to) : copyTo(folder.id, paths, to, into));
              }}
            />
          ),
        }),
      upload: async ({ files, empty, unread }: Dropped, directory: string) => {
        uploads.add(
          { id: folder.id, name: folder.name },
          files.map(({ path, file }) => ({ path: join(directory, path), file })),
        );
        const refused = unread.map((path) => ({
          path,
          code: "",
          message: t`The browser has no permission to read it.`,
        }));
        for (const path of empty) {
          await make({ folder: folder.id, path: join(directory, path) }).catch((thrown: unknown) => {
            const { code, message } = toProblem(thrown);
            // It already exists, which is the intended result.
            if (code !== CLASH) refused.push({ path, code, message });
          });
        }
        notifyRefused(t`Some entries could not be uploaded`, { paths: [], refused });
      },
    };
  }, [t, problemText, folder, make, move, copy, remove]);
}

export type FileActs = ReturnType<typeof useFileActs>;
