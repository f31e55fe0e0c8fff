import { Trans } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { IconRepeat } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Problem } from "@/api/problem";
import type { SessionCreate } from "@/api/types";
import { keepDraft } from "@/features/schedules/draft";
import { writeDefinition } from "@/queries/schedules";

interface Props {
  request: SessionCreate;
  /** Calls the function if the form has no faults; it counts as sent then. */
  send: (act: () => void) => void;
  /** Closes the launcher. */
  onLeave: () => void;
}

/** Goes on to a schedule that starts the session at recurring times. */
export function RecurringButton({ request, send, onLeave }: Props) {
  const navigate = useNavigate();
  const go = useMutation<string, Problem>({
    // Each session of a schedule has the name of its run, and starts at once.
    mutationFn: () => {
      const { name, start_at, ...repeated } = request;
      return writeDefinition(repeated);
    },
    onSuccess: (text) => {
      onLeave();
      keepDraft({ text });
      void navigate({ to: "/sessions/recurring", search: { form: "new" } });
    },
  });
  return (
    <Button
      variant="default"
      leftSection={<IconRepeat size={16} aria-hidden />}
      loading={go.isPending}
      onClick={() => send(go.mutate)}
    >
      <Trans>Run this every…</Trans>
    </Button>
  );
}
