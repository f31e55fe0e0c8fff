import { Trans, useLingui } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { EmptyState } from "@/ui/EmptyState";

interface Props {
  filtered: boolean;
  onLaunch: () => void;
  onClear: () => void;
}

/** In the place of the list: why there is none, and the next step. */
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
      title={t`No session is live`}
      text={t`Start one: seconds later you work in a terminal or in JupyterLab.`}
      action={
        <Button onClick={onLaunch}>
          <Trans>Start a session</Trans>
        </Button>
      }
    />
  );
}
