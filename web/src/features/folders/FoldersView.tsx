import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useCallback, useDeferredValue, useRef } from "react";
import type { Folder } from "@/api/types";
import { useRefusal } from "@/me/may";
import { everyFolder, type FolderFilter, foldersListQuery } from "@/queries/folders";
import type { FoldersSearch } from "@/routing/search";
import { EmptyState } from "@/ui/EmptyState";
import { MainButton } from "@/ui/MainButton";
import { ColumnMenu } from "@/ui/table/ColumnMenu";
import type { Column } from "@/ui/table/column";
import { DataTable } from "@/ui/table/DataTable";
import { ExportButton } from "@/ui/table/ExportButton";
import { KeyHelpButton } from "@/ui/table/KeyHelp";
import { ListFoot } from "@/ui/table/ListFoot";
import { ListToolbar } from "@/ui/table/ListToolbar";
import { serverSort } from "@/ui/table/sorted";
import { useColumnChoice } from "@/ui/table/use-column-choice";
import { usePageKeys } from "@/ui/table/use-page-keys";
import { useRows } from "@/ui/table/use-rows";
import { useSelection } from "@/ui/table/use-selection";
import { useReturnFocus } from "@/ui/use-return-focus";
import { FOLDER_COLUMNS, FOLDER_FIELDS, TRASH_COLUMNS } from "./columns";
import { FolderDialogs } from "./FolderDialogs";
import { FolderFilters } from "./FolderFilters";
import { FolderTools } from "./FolderTools";
import { type FolderActs, useFolderActs } from "./use-folder-acts";

interface Props {
  title: string;
  search: FoldersSearch;
  /** The owners whose folders are listed. */
  of: NonNullable<FolderFilter["of"]>;
  change: (part: Partial<FoldersSearch>, replace?: boolean) => void;
  /** Usage, shown above the list. */
  space?: ReactNode;
  /** Shown if there are no folders and no filter. */
  empty: ReactNode;
}

const idOf = (folder: Folder) => folder.id;
const look = (folder: Folder) => ({ name: folder.name, ended: folder.state === "DELETING" });
const NO_FILTER = {
  q: undefined,
  host: undefined,
  mode: undefined,
  auto: undefined,
  domain: undefined,
  project: undefined,
  owner: undefined,
};

/** A list of folders with its drawer and dialogs. The URL alone holds the view state. */
export function FoldersView({ title, search, of, change, space, empty }: Props) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const acts = useFolderActs();
  const refusal = useRefusal();
  const searchBox = useRef<HTMLInputElement>(null);
  const trash = search.list === "trash";
  const columns = trash ? TRASH_COLUMNS : FOLDER_COLUMNS;
  const [visible, setVisible] = useColumnChoice(trash ? "trash" : "folders", columns);
  useReturnFocus([search.open, search.make, search.act].some((one) => one !== undefined));

  const filter: FolderFilter = {
    of,
    state: trash ? "trash" : "active",
    q: useDeferredValue(search.q),
    host: search.host,
    domain: search.domain,
    project: search.project,
    owner: search.owner,
    usage_mode: search.mode,
    automatic: search.auto && search.auto === "yes",
    sort: serverSort(columns, search),
  };
  const list = useInfiniteQuery(foldersListQuery(filter));
  const { rows: folders, more } = useRows(list);

  const selectable = useCallback(
    (folder: Folder) => acts.why(trash ? "vfolder.remove" : "vfolder.update", folder) === null,
    [acts, trash],
  );
  const selection = useSelection(idOf, selectable);
  const chosen = folders.filter(selection.has);
  const open = useCallback((folder: Folder) => change({ open: folder.id }), [change]);
  const browse = useCallback(
    (folder: Folder) => void navigate({ to: "/data/$folder", params: { folder: folder.id } }),
    [navigate],
  );
  const whyNotMake = refusal("vfolder.create");
  const make = useCallback(() => change({ make: "one" }), [change]);
  const tools = useCallback(
    (folder: Folder) => (
      <FolderTools
        folder={folder}
        acts={acts}
        onBrowse={browse}
        onShare={(one) => change({ open: one.id, tab: "sharing" })}
        onAct={(act, one) => change({ act, on: one.id })}
      />
    ),
    [acts, browse, change],
  );
  const rowActs = (folder: Folder) => ({
    o: acts.whyNotOpen(folder) === null ? () => browse(folder) : undefined,
    Delete: keyToDelete(folder, acts),
  });
  usePageKeys({
    make: { label: t`New folder`, refusal: whyNotMake, onClick: make },
    onSearch: () => searchBox.current?.focus(),
  });
  const filtered = Object.keys(NO_FILTER).some((key) => search[key as keyof typeof NO_FILTER] !== undefined);

  return (
    <>
      <ListToolbar
        title={title}
        selected={{
          count: chosen.length,
          onClear: selection.clear,
          actions: <Chosen folders={chosen} trash={trash} acts={acts} onDone={selection.clear} />,
        }}
        tools={
          <>
            <ColumnMenu columns={columns} chosen={visible} onChange={setVisible} />
            <ExportButton name="folders" fields={FOLDER_FIELDS} all={() => everyFolder(filter)} />
            <KeyHelpButton />
          </>
        }
        action={
          trash ? null : (
            <MainButton icon={IconPlus} label={t`New folder`} refusal={whyNotMake} onClick={make} />
          )
        }
      >
        <FolderFilters
          ref={searchBox}
          search={search}
          of={of}
          onChange={(part) => {
            selection.clear();
            change(part, "q" in part);
          }}
        />
      </ListToolbar>
      {space}
      <DataTable
        label={title}
        rows={folders}
        rowId={idOf}
        columns={columns}
        visible={visible}
        loading={list.isPending}
        problem={list.error}
        onRetry={() => void list.refetch()}
        sorting={search}
        onSort={change}
        presorted
        look={look}
        selection={selection}
        opened={search.open}
        onOpen={open}
        acts={rowActs}
        actLines={[
          [["O"], t`Open files`],
          [["Delete"], trash ? t`Delete permanently` : t`Move to trash`],
        ]}
        tools={tools}
        toolsWidth="7.25rem"
        minWidth={widthOf(columns.filter(({ key }) => visible.includes(key)))}
        onNearEnd={more}
        empty={
          filtered ? (
            <EmptyState
              title={t`No folders match the filter`}
              action={
                <Button size="xs" variant="default" onClick={() => change(NO_FILTER)}>
                  <Trans>Clear filters</Trans>
                </Button>
              }
            />
          ) : (
            empty
          )
        }
      />
      {list.data && (
        <ListFoot
          count={folders.length}
          counted={<Plural value={folders.length} one="# folder" other="# folders" />}
          more={list.hasNextPage}
          loading={list.isFetchingNextPage}
          presorted
          onMore={more}
        />
      )}
      <FolderDialogs search={search} change={change} acts={acts} onBrowse={browse} />
    </>
  );
}

/** Width left for the name column. */
const widthOf = (columns: readonly Column<Folder>[]): string =>
  `${columns.reduce((sum, { width }) => sum + Number.parseFloat(width ?? "14"), 10)}rem`;

function keyToDelete(folder: Folder, acts: FolderActs): (() => void) | undefined {
  if (acts.whyNotTrash(folder) === null) return () => acts.trash([folder]);
  return acts.whyNotDelete(folder) === null ? () => acts.remove([folder]) : undefined;
}

interface ChosenProps {
  folders: Folder[];
  trash: boolean;
  acts: FolderActs;
  onDone: () => void;
}

/** The actions on the selected folders. */
function Chosen({ folders, trash, acts, onDone }: ChosenProps) {
  const { t } = useLingui();
  const firstWhy = (why: (folder: Folder) => string | null) =>
    folders.map(why).find((one) => one !== null) ?? null;
  if (!trash) {
    return (
      <MainButton
        variant="light"
        color="red"
        label={t`Move to trash…`}
        refusal={firstWhy((folder) => acts.why("vfolder.update", folder))}
        onClick={() => acts.trash(folders, onDone)}
      />
    );
  }
  return (
    <>
      <MainButton
        variant="default"
        label={t`Restore…`}
        refusal={firstWhy(acts.whyNotRestore)}
        onClick={() => acts.restore(folders, onDone)}
      />
      <MainButton
        variant="light"
        color="red"
        label={t`Delete permanently…`}
        refusal={firstWhy(acts.whyNotDelete)}
        onClick={() => acts.remove(folders, onDone)}
      />
    </>
  );
}
