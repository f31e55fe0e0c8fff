import { Plural, Trans } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import styles from "./SessionsPage.module.css";

interface Props {
  count: number;
  more: boolean;
  loading: boolean;
  sorted: boolean;
  onMore: () => void;
}

export function SessionsFoot({ count, more, loading, sorted, onMore }: Props) {
  return (
    <div className={styles.foot}>
      <span aria-live="polite">
        {more ? (
          <Trans>The newest {count} are loaded.</Trans>
        ) : (
          <Plural value={count} one="# session" other="# sessions" />
        )}
        {more && sorted && (
          <>
            {" "}
            <Trans>Sorted among these only.</Trans>
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
