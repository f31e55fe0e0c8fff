import { Trans } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { useKeepSession } from "@/queries/sessions";
import { ProblemAlert } from "@/ui/ProblemAlert";

/** Says that a session is in use, so that it does not end for being idle. */
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
