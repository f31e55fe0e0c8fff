import { Trans, useLingui } from "@lingui/react/macro";
import { TextInput } from "@mantine/core";
import { useState } from "react";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { FormModal } from "@/ui/form/FormDrawer";
import { useUnsavedInput } from "@/ui/form/unsaved-input";
import { join } from "./paths";
import type { FileActs } from "./use-file-acts";
import { useNameFault } from "./use-name-fault";

interface Props {
  opened: boolean;
  /** The parent directory. */
  path: string;
  acts: FileActs;
  onClose: () => void;
}

/** Creates a directory. */
export function DirectoryDialog({ opened, onClose, ...rest }: Props) {
  const { t } = useLingui();
  return (
    <FormModal
      opened={opened}
      onClose={onClose}
      title={t`New directory`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      <DirectoryForm {...rest} onClose={onClose} />
    </FormModal>
  );
}

function DirectoryForm({ path, acts, onClose }: Omit<Props, "opened">) {
  const { t } = useLingui();
  const [name, setName] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const fault = useNameFault();
  useUnsavedInput(() => name !== "" && !busy);
  // A nested path is allowed: a/b/c.
  const wrong =
    name === ""
      ? null
      : (name
          .split("/")
          .map(fault)
          .find((one) => one !== null) ?? null);
  const make = async () => {
    if (name === "" || wrong) return;
    setBusy(true);
    const thrown = await acts.makeDirectory(join(path, name));
    setBusy(false);
    setProblem(thrown);
    if (thrown === null) onClose();
  };
  return (
    <Form
      onSubmit={(event) => {
        event?.preventDefault();
        void make();
      }}
      submit={<Trans>Create</Trans>}
      onCancel={onClose}
      busy={busy}
      blocked={name === "" || wrong !== null}
      problem={problem}
      command={commandLine(
        "carrel",
        "vfolder",
        "mkdir",
        `${acts.folder.name}:${join(path, name || "results")}`,
      )}
    >
      <TextInput
        label={t`Name`}
        spellCheck={false}
        autoComplete="off"
        data-autofocus
        value={name}
        error={wrong}
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </Form>
  );
}
