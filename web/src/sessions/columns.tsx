import type { I18n } from "@lingui/core";
import {
  columnVisibilityFeature,
  createColumnHelper,
  createSortedRowModel,
  rowSelectionFeature,
  rowSortingFeature,
  sortFn_basic,
  sortFn_text,
  tableFeatures,
} from "@tanstack/react-table";
import type { Session } from "@/api/types";
import { formatInstant } from "@/ui/format";
import { Age } from "./Age";
import { COLUMN_NAMES } from "./column-keys";
import { NameCell } from "./NameCell";
import { SlotsText } from "./SlotsText";
import { StateBadge } from "./StateBadge";
import { UsageSparkline } from "./UsageSparkline";

export const features = tableFeatures({
  columnVisibilityFeature,
  rowSelectionFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { text: sortFn_text, basic: sortFn_basic },
});

const helper = createColumnHelper<typeof features, Session>();

/** The columns of the list, in the order they are shown. */
export function sessionColumns(i18n: I18n) {
  const header = (key: keyof typeof COLUMN_NAMES) => () => i18n._(COLUMN_NAMES[key]);
  const plain = { enableSorting: false } as const;
  return helper.columns([
    helper.accessor("state", {
      id: "state",
      header: header("state"),
      sortFn: "text",
      cell: ({ row }) => <StateBadge state={row.original.state} />,
    }),
    helper.accessor("name", {
      id: "name",
      header: header("name"),
      sortFn: "text",
      cell: ({ row }) => <NameCell session={row.original} />,
    }),
    helper.accessor((session) => session.image_name ?? session.image, {
      id: "image",
      header: header("image"),
      sortFn: "text",
      cell: ({ row }) => (
        <span title={row.original.image} data-clip>
          {row.original.image_name ?? row.original.image}
        </span>
      ),
    }),
    helper.accessor((session) => (session.slots.cpu ?? 0) * 2 ** 20 + (session.slots.mem ?? 0) / 2 ** 30, {
      id: "slots",
      header: header("slots"),
      sortFn: "basic",
      cell: ({ row }) => <SlotsText slots={row.original.slots} />,
    }),
    helper.display({
      id: "cpu",
      header: header("cpu"),
      ...plain,
      cell: ({ row }) => <UsageSparkline session={row.original} slot="cpu" />,
    }),
    helper.display({
      id: "mem",
      header: header("mem"),
      ...plain,
      cell: ({ row }) => <UsageSparkline session={row.original} slot="mem" />,
    }),
    helper.accessor((session) => -Date.parse(session.created_at), {
      id: "age",
      header: header("age"),
      sortFn: "basic",
      cell: ({ row }) => <Age since={row.original.created_at} />,
    }),
    helper.accessor((session) => session.project.name, {
      id: "project",
      header: header("project"),
      ...plain,
    }),
    helper.accessor((session) => session.owner.email, { id: "owner", header: header("owner"), ...plain }),
    helper.accessor((session) => session.node ?? "", { id: "node", header: header("node"), ...plain }),
    helper.accessor("created_at", {
      id: "created",
      header: header("created"),
      ...plain,
      cell: ({ row }) => formatInstant(row.original.created_at, i18n.locale),
    }),
  ]);
}
