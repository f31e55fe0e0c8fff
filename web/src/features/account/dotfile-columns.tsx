import { msg } from "@lingui/core/macro";
import type { Dotfile } from "@/api/types";
import { formatSize } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";

export const DOTFILE_COLUMNS: readonly Column<Dotfile>[] = [
  {
    key: "path",
    title: msg`Path`,
    shown: "always",
    sortable: true,
    value: (file) => file.path,
  },
  {
    key: "size",
    title: msg`Size`,
    width: "8rem",
    sortable: true,
    value: (file) => file.size_bytes,
    cell: (file) => formatSize(file.size_bytes),
  },
  {
    key: "changed",
    title: msg`Changed`,
    width: "12.5rem",
    sortable: true,
    value: (file) => Date.parse(file.updated_at),
    cell: (file) => <Instant at={file.updated_at} />,
  },
];
