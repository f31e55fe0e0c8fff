import { Trans, useLingui } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { EmptyState } from "@/ui/EmptyState";

interface Props {
  filtered: boolean;
  onLaunch: () => void;
  onClear: () => void;
}

/** Empty state of the list: the reason and the next step. */
export function SessionsNothing({ filtered, onLaunch, onClear }: Props) {
  const { t } = useLingui();
  return filtered ? (
    <EmptyState
      title={t`No sessions match the filter`}
      action={
        <Button variant="default" onClick={onClear}>
          <Trans>Show all</Trans>
        </Button>
      }
    />
  ) : (
    <EmptyState
      title={t`No live sessions`}
      text={t`Start a session to work in a terminal or JupyterLab within seconds.`}
      action={
        <Button onClick={onLaunch}>
          <Trans>Start a session</Trans>
        </Button>
      }
    />
  );
}
