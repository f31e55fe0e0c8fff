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

/** Search parameters of a list page: the list, and the open drawer or form. */
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
  /** Storage key of the column selection in this browser. */
  name: string;
  search: Address;
  onChange: (part: ListSearch, replace?: boolean) => void;
  /** The query of the rows: useQuery, or useInfiniteQuery together with `onMore`. */
  list: {
    data: unknown;
    error: unknown;
    isPending: boolean;
    refetch: () => unknown;
    hasNextPage?: boolean;
    isFetchingNextPage?: boolean;
  };
  /** Loads the next page; the server sorts the rows. */
  onMore?: () => void;
  /** The number of rows as text: "3 domains". */
  counted: ReactNode;
  /** Texts of the empty state. */
  empty: { title: string; text?: string };
  /** What the search covers; the name by default. */
  searched?: { label: string; placeholder: string };
  /** Further filters beside the search. */
  filters?: ReactNode;
  /** The export: file name, columns, and all rows that match the filter. */
  file: { name: string; fields: CsvFields<T>; all: () => T[] | Promise<T[]> };
  /** The button that creates an item, and why it is disabled. */
  make?: { label: string; refusal: string | null; onClick: () => void };
  /** Tabs of related pages, above the title. */
  tabs?: ReactNode;
  children?: ReactNode;
}

/** A list page: tabs, filters, search, table, footer and drawers. The URL alone holds the view state. */
export function ListPage<T>({ title, name, search, onChange, list, onMore, make, file, ...props }: Props<T>) {
  const { t } = useLingui();
  const { columns, rows, searched } = props;
  const searchBox = useRef<HTMLInputElement>(null);
  const [visible, setVisible] = useColumnChoice(name, columns);
  usePageTitle(title);
  useReturnFocus([search.open, search.form, search.edit, search.make].some((one) => one !== undefined));
  usePageKeys({ make, onSearch: () => searchBox.current?.focus() });
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
