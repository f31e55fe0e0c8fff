import type { Node } from "@/api/types";
import type { NodeFilter } from "@/queries/nodes";
import type { NodesSearch } from "@/routing/search";
import type { Column } from "@/ui/table/column";
import { serverSort } from "@/ui/table/sorted";

const CORDONED = { yes: true, no: false } as const;

/** The API filter for the URL's search parameters. */
export function filterOf(search: NodesSearch, columns: readonly Column<Node>[]): NodeFilter {
  return {
    q: search.q,
    group: search.group,
    selector: search.labels,
    state: search.state,
    cordoned: search.cordoned && CORDONED[search.cordoned],
    sort: serverSort(columns, search),
  };
}
