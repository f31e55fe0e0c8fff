import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { modals } from "@mantine/modals";
import { type ReactNode, useState } from "react";
import { CommandLine } from "@/ui/CommandLine";
import { ProblemAlert } from "@/ui/ProblemAlert";

interface Question {
  title: string;
  /** Accessible name of the close button. */
  closeLabel: string;
  /** What will be lost, and that it cannot be undone. */
  children: ReactNode;
  /** Label of the confirm button. */
  confirm: string;
  /** The equivalent CLI command. */
  command?: string;
  /** Text to type before confirming: for permanent deletions that affect others too. */
  typedName?: string;
  /** The action; on an error the dialog stays open and shows it. */
  onConfirm: () => Promise<unknown>;
  /** Called when the dialog closes, for any reason. */
  onClose?: () => void;
}

/** Confirms an action that cannot be undone. */
export function askToConfirm({ title, closeLabel, onClose, ...question }: Question): void {
  const id = modals.open({
    title,
    onClose,
    closeButtonProps: { "aria-label": closeLabel },
    children: <ConfirmDialog {...question} onDone={() => modals.close(id)} />,
  });
}

type Props = Omit<Question, "title" | "closeLabel" | "onClose"> & { onDone: () => void };

function ConfirmDialog({ children, confirm, command, typedName, onConfirm, onDone }: Props) {
  const { t } = useLingui();
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const ready = typedName === undefined || typed === typedName;
  const go = async () => {
    if (!ready || busy) return;
    setBusy(true);
    setProblem(null);
    try {
      await onConfirm();
      onDone();
    } catch (thrown) {
      setProblem(thrown);
      setBusy(false);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void go();
      }}
    >
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        {typedName !== undefined && (
          <TextInput
            label={t`Type ${typedName} to confirm`}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
        )}
        {command && <CommandLine text={command} />}
        {problem != null && <ProblemAlert problem={problem} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone} data-autofocus={typedName === undefined || undefined}>
            <Trans>Keep</Trans>
          </Button>
          <Button type="submit" color="red" disabled={!ready} loading={busy}>
            {confirm}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
