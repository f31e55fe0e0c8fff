import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, NumberInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { Session } from "@/api/types";
import { usePrioritiseSession } from "@/queries/sessions";
import { useProblemText } from "@/sentences/use-problem-text";
import { useUnsavedInput } from "@/ui/form/unsaved-input";

interface Props {
  session: Pick<Session, "id" | "name" | "priority">;
  /** Called when the form closes. */
  onDone?: () => void;
}

/**
 * Changes the priority of a pending session. Any user who sees the session may; the server limits the value.
 */
export function PriorityForm({ session, onDone }: Props) {
  const { t } = useLingui();
  const [priority, setPriority] = useState<number | string>(session.priority);
  const change = usePrioritiseSession();
  useUnsavedInput(
    () => String(priority) !== String(session.priority) && !change.isPending && !change.isSuccess,
  );
  const text = useProblemText()(change.error);
  const outside = priority === "" || Number(priority) < 0 || Number(priority) > 100;
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (outside) return;
    if (Number(priority) === session.priority) onDone?.();
    else change.mutate({ id: session.id, priority: Number(priority) }, { onSuccess: onDone });
  };
  return (
    <form onSubmit={send}>
      <Group gap="xs" align="flex-end">
        <NumberInput
          size="xs"
          w={110}
          label={t`Priority`}
          aria-label={t`Priority of ${session.name}`}
          min={0}
          max={100}
          clampBehavior="none"
          allowDecimal={false}
          value={priority}
          error={outside || change.isError}
          onChange={setPriority}
          data-autofocus={onDone && true}
        />
        <Button size="xs" variant="default" type="submit" loading={change.isPending}>
          <Trans>Change priority</Trans>
        </Button>
      </Group>
      <div role="status" style={{ fontSize: "var(--mantine-font-size-xs)", marginTop: 4 }}>
        {outside && t`0 to 100`}
        {change.isError && (
          <span style={{ color: "var(--carrel-bad)" }}>
            {[text.detail, text.hint].filter(Boolean).join(" ")}
          </span>
        )}
      </div>
    </form>
  );
}
