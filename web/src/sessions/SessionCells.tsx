import { FlexRender, type Row } from "@tanstack/react-table";
import type { Session } from "@/api/types";
import type { features } from "./columns";
import { WhyCell } from "./WhyCell";

const MEASURED = ["cpu", "mem"];

/** The chosen cells of one row. Where there is nothing to measure, the columns of readings say why the session does not run. */
export function SessionCells({ row }: { row: Row<typeof features, Session> }) {
  const session = row.original;
  const cells = row.getVisibleCells();
  const idle = session.state === "RUNNING" ? [] : cells.filter((cell) => MEASURED.includes(cell.column.id));
  return cells.map((cell) => {
    const place = idle.indexOf(cell);
    if (place > 0) return null;
    if (place === 0) {
      return (
        <td key={cell.id} colSpan={idle.length}>
          <WhyCell session={session} />
        </td>
      );
    }
    const nowhereElse = cell.column.id === "name" && idle.length === 0 && session.state !== "RUNNING";
    return (
      <td key={cell.id} data-column={cell.column.id}>
        <FlexRender cell={cell} />
        {nowhereElse && <WhyCell session={session} />}
      </td>
    );
  });
}
