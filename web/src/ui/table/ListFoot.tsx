import { Trans } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./list.module.css";

interface Props {
  /** The number of rows as text: "3 users". */
  counted: ReactNode;
  count: number;
  /** The server has more rows; absent for lists without pages. */
  more?: boolean;
  loading?: boolean;
  sorted?: boolean;
  /** The server sorts: the loaded rows are the first in that order, not the newest. */
  presorted?: boolean;
  onMore?: () => void;
}

/** The footer of a list: the row count, and loading more. */
export function ListFoot({
  counted,
  count,
  more = false,
  loading,
  sorted = false,
  presorted = false,
  onMore,
}: Props) {
  return (
    <div className={styles.foot}>
      <span aria-live="polite">
        {!more && counted}
        {more &&
          (presorted ? (
            <Trans>First {count} rows loaded.</Trans>
          ) : (
            <Trans>Newest {count} rows loaded.</Trans>
          ))}
        {more && sorted && !presorted && (
          <>
            {" "}
            <Trans>Sorting applies to loaded rows only.</Trans>
          </>
        )}
      </span>
      {more && (
        <Button size="compact-xs" variant="default" loading={loading} onClick={onMore}>
          <Trans>Load more</Trans>
        </Button>
      )}
    </div>
  );
}
