import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Modal, Stack, Text } from "@mantine/core";

interface Props {
  opened: boolean;
  name: string;
  /** Name for saving the text as a copy. */
  copy: string;
  onReload: () => void;
  onOverwrite: () => void;
  onCopy: () => void;
  onClose: () => void;
}

/** Another user changed the file since it was opened: asks which version to keep. */
export function EditConflictDialog({ opened, name, copy, onReload, onOverwrite, onCopy, onClose }: Props) {
  const { t } = useLingui();
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t`Changed by someone else`}
      closeButtonProps={{ "aria-label": t`Continue editing` }}
    >
      <Stack>
        <Text size="sm">
          <Trans>
            <b>{name}</b> was changed since you opened it. Your changes are not saved yet.
          </Trans>
        </Text>
        <Button onClick={onCopy} data-autofocus>
          <Trans>Save my version as {copy}</Trans>
        </Button>
        <Button variant="default" onClick={onReload}>
          <Trans>Discard my version and reload</Trans>
        </Button>
        <Button color="red" variant="light" onClick={onOverwrite}>
          <Trans>Overwrite with my version</Trans>
        </Button>
      </Stack>
    </Modal>
  );
}
