import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, Drawer, VisuallyHidden } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from "react";
import type { FileEntry, Folder } from "@/api/types";
import { loadPart, part } from "@/routing/part";
import type { FilesSearch } from "@/routing/search";
import { useAddress } from "@/routing/use-address";
import { EmptyState } from "@/ui/EmptyState";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { ListFoot } from "@/ui/table/ListFoot";
import { usePageKeys } from "@/ui/table/use-page-keys";
import { useLast } from "@/ui/use-last";
import { useReturnFocus } from "@/ui/use-return-focus";
import { Crumbs } from "./Crumbs";
import { DirectoryTree } from "./DirectoryTree";
import styles from "./Explorer.module.css";
import { ExplorerBar } from "./ExplorerBar";
import { FileTable } from "./FileTable";
import { FolderUploads } from "./FolderUploads";
import { isEditable } from "./kinds";
import { parentOf } from "./paths";
import { type DropActs, useDrop } from "./use-drop";
import { useFileActs } from "./use-file-acts";
import { useFileSelection } from "./use-file-selection";
import { useFiles } from "./use-files";

const ShareDrawer = part(() => import("./ShareDrawer").then((m) => m.ShareDrawer));
const PreviewPane = part(() => import("./PreviewPane").then((m) => m.PreviewPane));
// Download only on edit: this is the largest chunk of the page.
const EditorWindow = lazy(() =>
  loadPart(() => import("./EditorWindow")).then((m) => ({ default: m.EditorWindow })),
);
const route = getRouteApi("/shell/data/$folder");

/** File browser: directory tree, file list and preview. The URL holds the view state. */
export function Explorer({ folder }: { folder: Folder }) {
  const { t } = useLingui();
  const search = route.useSearch();
  const phone = useMediaQuery("(max-width: 47.99em)", undefined, { getInitialValueInEffect: false }) ?? false;
  const small = useMediaQuery("(max-width: 99.99em)", undefined, { getInitialValueInEffect: false }) ?? false;
  const narrow =
    useMediaQuery("(max-width: 74.99em)", undefined, { getInitialValueInEffect: false }) ?? false;
  const searchBox = useRef<HTMLInputElement>(null);
  const [renaming, setRenaming] = useState<string | null>(null);
  const path = search.path ?? "";
  const sharing = useLast(search.share);
  useReturnFocus(search.share !== undefined);

  const change = useAddress<typeof search>();
  const goTo = useCallback(
    (directory: string) => change({ path: directory || undefined, q: undefined, file: undefined }),
    [change],
  );
  const files = useFiles(folder.id, path, search);
  const acts = useFileActs(folder);
  const selection = useFileSelection(files.entries, files.loadAll);
  const drop = useMemo<DropActs>(
    () => ({
      onFiles: (from, directory, copy) =>
        void (copy || from.folder !== folder.id
          ? acts.copyTo(from.folder, from.paths, directory, folder.id)
          : acts.moveTo(from.paths, directory)),
      onDesktop: (dropped, directory) => void acts.upload(dropped, directory),
    }),
    [acts, folder.id],
  );
  const { over, handlers } = useDrop(path, drop, acts.whyNotWrite);
  const open = useCallback(
    (entry: FileEntry) => {
      if (!entry.readable) return;
      if (entry.kind === "directory") goTo(entry.path);
      if (entry.kind === "file") change({ file: entry.path });
    },
    [goTo, change],
  );
  const edit = useCallback((entry: FileEntry) => change({ file: entry.path, edit: "yes" }), [change]);
  usePageKeys({ onSearch: () => searchBox.current?.focus() });

  const preview = search.file !== undefined && (
    <Suspense fallback={null}>
      <PreviewPane
        key={search.file}
        folder={folder}
        path={search.file}
        acts={acts}
        onEdit={() => change({ edit: "yes" })}
        onClose={() => change({ file: undefined })}
      />
    </Suspense>
  );
  return (
    <div className={styles.page}>
      <VisuallyHidden component="h1">{folder.name}</VisuallyHidden>
      <div className={styles.head}>
        <Crumbs folder={folder} path={path} drop={drop} refusal={acts.whyNotWrite} />
        <ExplorerBar
          ref={searchBox}
          path={path}
          q={search.q}
          acts={acts}
          selection={selection}
          total={files.total}
          phone={phone}
          onSearch={(q) => change({ q }, true)}
          onShare={() => change({ share: "yes" })}
        />
      </div>
      <div className={styles.body}>
        {!narrow && (
          <nav className={styles.side} aria-label={t`Directories`}>
            <DirectoryTree
              folder={folder.id}
              name={folder.name}
              current={path}
              onChoose={goTo}
              drop={{ acts: drop, refusal: acts.whyNotWrite }}
            />
          </nav>
        )}
        <section className={styles.files} aria-label={t`Files`} data-over={over || undefined} {...handlers}>
          {files.problem ? (
            <div style={{ padding: "1rem", maxWidth: 560 }}>
              <ProblemAlert problem={files.problem} onRetry={files.retry} />
            </div>
          ) : (
            <FileTable
              label={t`Files of ${folder.name}`}
              entries={files.entries}
              loading={files.loading}
              isSearch={search.q !== undefined}
              compact={phone || (small && search.file !== undefined)}
              selection={selection}
              acts={acts}
              drop={drop}
              sorting={search}
              onSort={search.q ? undefined : (sorting) => change(sorting as Partial<FilesSearch>, true)}
              renaming={renaming}
              onRenaming={setRenaming}
              onOpen={open}
              onEdit={edit}
              onUp={() => path !== "" && goTo(parentOf(path))}
              onNearEnd={files.more}
              empty={
                <Nothing
                  search={search}
                  refusal={acts.whyNotWrite}
                  onClear={() => change({ q: undefined })}
                />
              }
            />
          )}
          <FolderUploads folder={folder.id} />
          {!files.loading && !files.problem && (
            <ListFoot
              count={files.entries.length}
              counted={<Counted count={files.entries.length} complete={files.complete} />}
              more={files.hasMore}
              loading={files.loadingMore}
              presorted
              onMore={files.more}
            />
          )}
        </section>
        {!phone && preview && (
          <aside className={styles.preview} aria-label={t`Preview`}>
            {preview}
          </aside>
        )}
      </div>
      <Drawer
        opened={phone && search.file !== undefined}
        onClose={() => change({ file: undefined })}
        size="100%"
        withCloseButton={false}
        padding={0}
        attributes={{ content: { "aria-label": t`Preview` } }}
      >
        {phone && preview}
      </Drawer>
      <Suspense fallback={null}>
        {sharing && (
          <ShareDrawer
            folder={folder}
            opened={search.share !== undefined}
            onClose={() => change({ share: undefined })}
          />
        )}
        {search.edit && search.file !== undefined && isEditable(search.file) && (
          <EditorWindow
            key={search.file}
            folder={folder}
            path={search.file}
            refusal={acts.whyNotWrite}
            onMoved={(file) => change({ file }, true)}
            onClose={() => change({ edit: undefined })}
          />
        )}
      </Suspense>
    </div>
  );
}

function Counted({ count, complete }: { count: number; complete: boolean }) {
  return (
    <>
      <Plural value={count} one="# entry" other="# entries" />
      {!complete && (
        <>
          {" "}
          <Trans>Not all matches are shown. Enter more of the name.</Trans>
        </>
      )}
    </>
  );
}

function Nothing({
  search,
  refusal,
  onClear,
}: {
  search: FilesSearch;
  refusal: string | null;
  onClear: () => void;
}) {
  const { t } = useLingui();
  if (search.q) {
    return (
      <EmptyState
        title={t`No names match the search`}
        action={
          <Button size="xs" variant="default" onClick={onClear}>
            <Trans>Clear the search</Trans>
          </Button>
        }
      />
    );
  }
  return (
    <EmptyState
      title={search.path ? t`This directory is empty` : t`This folder is empty`}
      text={refusal ?? t`Drop files or directories here, or click Upload.`}
    />
  );
}
