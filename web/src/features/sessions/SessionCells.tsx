import type { Session } from "@/api/types";
import { type Column, cellOf } from "@/ui/table/column";
import { WhyCell } from "./WhyCell";

const MEASURED = ["cpu", "mem"];

/** The visible cells of a row. If the session is not running, the usage columns show the reason. */
export function SessionCells({
  session,
  columns,
}: {
  session: Session;
  columns: readonly Column<Session>[];
}) {
  const idle = session.state === "RUNNING" ? [] : columns.filter(({ key }) => MEASURED.includes(key));
  return columns.map((column) => {
    const place = idle.indexOf(column);
    if (place > 0) return null;
    if (place === 0) {
      return (
        <td key={column.key} colSpan={idle.length}>
          <WhyCell session={session} />
        </td>
      );
    }
    const nowhereElse = column.key === "name" && idle.length === 0 && session.state !== "RUNNING";
    return (
      <td key={column.key} data-column={column.key}>
        {cellOf(column, session)}
        {nowhereElse && <WhyCell session={session} />}
      </td>
    );
  });
}
