import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, TextInput } from "@mantine/core";
import { useState } from "react";
import type { SessionDetail } from "@/api/types";
import { isName } from "@/features/sessions/launcher/request";
import { useRenameSession } from "@/queries/sessions";
import { useProblemText } from "@/sentences/use-problem-text";
import { useUnsavedInput } from "@/ui/form/unsaved-input";

export function RenameForm({ session, onDone }: { session: SessionDetail; onDone: () => void }) {
  const { t } = useLingui();
  const [name, setName] = useState(session.name);
  const rename = useRenameSession();
  useUnsavedInput(() => name !== session.name && !rename.isPending && !rename.isSuccess);
  const wrong = isName(name) ? null : t`4 to 64 letters, digits or _; between them also . and -`;
  const text = useProblemText()(rename.error);
  const problem = rename.error ? [text.detail, text.hint].filter(Boolean).join(" ") : null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (name === session.name) onDone();
        else if (!wrong) rename.mutate({ id: session.id, name }, { onSuccess: onDone });
      }}
    >
      <Group gap="xs" align="flex-start" mb="sm">
        <TextInput
          size="xs"
          w={260}
          aria-label={t`New name`}
          value={name}
          error={wrong ?? problem}
          autoFocus
          // In a modal drawer, Escape leaves only this field.
          data-mantine-stop-propagation
          spellCheck={false}
          onChange={(event) => setName(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.stopPropagation();
            onDone();
          }}
        />
        <Button size="xs" type="submit" loading={rename.isPending}>
          <Trans>Rename</Trans>
        </Button>
        <Button size="xs" variant="subtle" color="gray" onClick={onDone}>
          <Trans>Cancel</Trans>
        </Button>
      </Group>
    </form>
  );
}
