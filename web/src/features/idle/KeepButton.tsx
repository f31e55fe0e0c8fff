import { Trans } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { useKeepSession } from "@/queries/sessions";
import { ProblemAlert } from "@/ui/ProblemAlert";

/** Marks a session as in use, which resets its idle time. */
export function KeepButton({ id }: { id: string }) {
  const keep = useKeepSession();
  return (
    <>
      <Button size="compact-sm" variant="light" loading={keep.isPending} onClick={() => keep.mutate({ id })}>
        <Trans>Keep session</Trans>
      </Button>
      {keep.error && <ProblemAlert problem={keep.error} onRetry={() => keep.mutate({ id })} />}
    </>
  );
}
