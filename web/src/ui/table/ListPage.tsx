import { useLingui } from "@lingui/react/macro";
import { IconPlus } from "@tabler/icons-react";
import { type ReactNode, useRef } from "react";
import type { ListSearch } from "@/routing/search";
import { EmptyState } from "@/ui/EmptyState";
import { MainButton } from "@/ui/MainButton";
import { usePageTitle } from "@/ui/use-page-title";
import { useReturnFocus } from "@/ui/use-return-focus";
import { ColumnMenu } from "./ColumnMenu";
import type { CsvFields } from "./csv";
import { DataTable } from "./DataTable";
import { ExportButton } from "./ExportButton";
import type { GridProps } from "./Grid";
import { ListFoot } from "./ListFoot";
import { ListToolbar } from "./ListToolbar";
import styles from "./list.module.css";
import { SearchBox } from "./SearchBox";
import { useColumnChoice } from "./use-column-choice";
import { usePageKeys } from "./use-page-keys";

/** What a link to such a page carries: the list, and what is open over it. */
interface Address extends ListSearch {
  open?: string;
  form?: string;
  edit?: string;
  make?: string;
}

type Table<T> = Pick<
  GridProps<T>,
  "rows" | "rowId" | "columns" | "look" | "onOpen" | "tools" | "toolsWidth" | "minWidth"
>;

interface Props<T> extends Table<T> {
  title: string;
  /** Names the choice of columns on this browser. */
  name: string;
  search: Address;
  onChange: (part: ListSearch, replace?: boolean) => void;
  /** The question that brings the rows: useQuery's, or useInfiniteQuery's together with `onMore`. */
  list: {
    data: unknown;
    error: unknown;
    isPending: boolean;
    refetch: () => unknown;
    hasNextPage?: boolean;
    isFetchingNextPage?: boolean;
  };
  /** The rows come page by page, in the order asked for. */
  onMore?: () => void;
  /** How many rows there are, in words: "3 domains". */
  counted: ReactNode;
  /** What is said when there are none. */
  empty: { title: string; text?: string };
  /** What the search looks at; the name without it. */
  searched?: { label: string; placeholder: string };
  /** Beside the search: what else narrows the list. */
  filters?: ReactNode;
  /** The file of the export, what it holds of a row, and every row that the filter finds. */
  file: { name: string; fields: CsvFields<T>; all: () => T[] | Promise<T[]> };
  /** The button that makes a new one, and why it cannot be pressed. */
  make?: { label: string; refusal: string | null; onClick: () => void };
  /** Above the title: the tabs of the pages that belong together. */
  tabs?: ReactNode;
  /** The drawers. */
  children?: ReactNode;
}

/** A page that is a list: tabs, filters, search, table, foot and drawers. What is shown is said by the address alone. */
export function ListPage<T>({ title, name, search, onChange, list, onMore, make, file, ...props }: Props<T>) {
  const { t } = useLingui();
  const { columns, rows, searched } = props;
  const searchBox = useRef<HTMLInputElement>(null);
  const [visible, setVisible] = useColumnChoice(name, columns);
  usePageTitle(title);
  useReturnFocus([search.open, search.form, search.edit, search.make].some((one) => one !== undefined));
  usePageKeys({
    onNew: make && !make.refusal ? make.onClick : undefined,
    onSearch: () => searchBox.current?.focus(),
  });
  return (
    <div className={styles.page}>
      {props.tabs}
      <ListToolbar
        title={title}
        tools={
          <>
            <ColumnMenu columns={columns} chosen={visible} onChange={setVisible} />
            <ExportButton {...file} />
          </>
        }
        action={make && <MainButton icon={IconPlus} {...make} />}
      >
        {props.filters}
        <SearchBox
          ref={searchBox}
          label={searched?.label ?? t`Search by name`}
          placeholder={searched?.placeholder ?? t`Name`}
          value={search.q}
          onChange={(q) => onChange({ q }, true)}
        />
      </ListToolbar>
      <DataTable
        label={title}
        rows={rows}
        rowId={props.rowId}
        columns={columns}
        visible={visible}
        loading={list.isPending}
        problem={list.error}
        onRetry={() => void list.refetch()}
        sorting={search}
        onSort={onChange}
        presorted={onMore !== undefined}
        look={props.look}
        opened={search.open}
        onOpen={props.onOpen}
        tools={props.tools}
        toolsWidth={props.toolsWidth}
        minWidth={props.minWidth}
        onNearEnd={onMore}
        empty={<EmptyState {...props.empty} />}
      />
      {list.data != null && (
        <ListFoot
          count={rows.length}
          counted={props.counted}
          more={list.hasNextPage}
          loading={list.isFetchingNextPage}
          presorted={onMore !== undefined}
          onMore={onMore}
        />
      )}
      {props.children}
    </div>
  );
}
