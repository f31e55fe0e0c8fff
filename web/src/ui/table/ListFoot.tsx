import { Trans } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./list.module.css";

interface Props {
  /** How many there are, in words: "3 users". */
  counted: ReactNode;
  count: number;
  /** The server has more; absent for lists that come whole. */
  more?: boolean;
  loading?: boolean;
  sorted?: boolean;
  /** The server gives the order asked for: what is loaded is the beginning of that, not the newest. */
  presorted?: boolean;
  onMore?: () => void;
}

/** Below a list: how many there are, and more of them. */
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
