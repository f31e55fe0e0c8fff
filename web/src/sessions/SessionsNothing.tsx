import { Trans, useLingui } from "@lingui/react/macro";
import { Box, Button } from "@mantine/core";
import { EmptyState } from "@/ui/EmptyState";
import { ProblemAlert } from "@/ui/ProblemAlert";

interface Props {
  problem: unknown;
  filtered: boolean;
  onRetry: () => void;
  onLaunch: () => void;
  onClear: () => void;
}

/** In the place of the list: why there is none, and the next step. */
export function SessionsNothing({ problem, filtered, onRetry, onLaunch, onClear }: Props) {
  const { t } = useLingui();
  return (
    <Box style={{ flex: 1, overflow: "auto" }} p="md">
      {problem ? (
        <Box maw={560} mx="auto">
          <ProblemAlert problem={problem} onRetry={onRetry} />
        </Box>
      ) : filtered ? (
        <EmptyState
          title={t`No session meets the filter`}
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
      )}
    </Box>
  );
}
