import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Folder } from "@/api/types";
import { useMoveFolder } from "@/queries/folders";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { useProblemForm } from "@/ui/form/use-problem-form";
import { HostInput } from "./HostInput";

/** Moves a folder to another storage host. */
export function MoveForm({ folder, onDone }: { folder: Folder; onDone: () => void }) {
  const move = useMoveFolder();
  const form = useProblemForm<{ host: string }>({ initialValues: { host: "" } }, move.error);
  const { host } = form.values;
  return (
    <Form
      onSubmit={form.onSubmit(() => move.mutate({ id: folder.id, host }, { onSuccess: onDone }))}
      submit={<Trans>Move</Trans>}
      onCancel={onDone}
      busy={move.isPending}
      blocked={host === ""}
      problem={move.error}
      command={commandLine("carrel", "vfolder", "move", folder.name, host || "archive")}
    >
      <Text size="sm">
        <Trans>
          The files are copied to the new host, then deleted from {folder.host.name}. Until then the folder is
          read-only and cannot be mounted.
        </Trans>
      </Text>
      <HostInput
        value={host}
        without={folder.host.name}
        required
        error={form.errors.host}
        onChange={(next) => form.setFieldValue("host", next)}
      />
    </Form>
  );
}
