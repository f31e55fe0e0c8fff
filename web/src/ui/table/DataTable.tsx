import { Box } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import type { ReactNode } from "react";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { Cards } from "./Cards";
import { Grid, type GridProps } from "./Grid";

interface Props<T> extends GridProps<T> {
  /** The error that prevents the list. */
  problem: unknown;
  onRetry: () => void;
  /** Shown if there are no rows: an EmptyState with the next step. */
  empty: ReactNode;
  /** Content of a card in a narrow window; by default, all columns with their names. */
  card?: (row: T) => ReactNode;
}

/** A list in all its states: loading, error, empty, table, and cards in a narrow window. */
export function DataTable<T>({ problem, onRetry, empty, card, ...grid }: Props<T>) {
  const phone = useMediaQuery("(max-width: 47.99em)", undefined, { getInitialValueInEffect: false });
  if (problem != null) {
    return (
      <Box style={{ flex: 1, overflow: "auto" }} p="md">
        <Box maw={560} mx="auto">
          <ProblemAlert problem={problem} onRetry={onRetry} />
        </Box>
      </Box>
    );
  }
  if (!grid.loading && grid.rows.length === 0) {
    return (
      <Box style={{ flex: 1, overflow: "auto" }} p="md">
        {empty}
      </Box>
    );
  }
  return phone ? <Cards {...grid} card={card} /> : <Grid {...grid} />;
}
