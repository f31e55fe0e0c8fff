import { Trans } from "@lingui/react/macro";
import { Button } from "@mantine/core";

interface Props {
  list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}

/** Loads the next page of a short list; nothing after the last one. */
export function MoreButton({ list }: Props) {
  if (!list.hasNextPage) return null;
  return (
    <Button
      size="xs"
      variant="default"
      loading={list.isFetchingNextPage}
      onClick={() => void list.fetchNextPage()}
    >
      <Trans>Load more</Trans>
    </Button>
  );
}
