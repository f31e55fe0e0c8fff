import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Modal, Stack, Text } from "@mantine/core";

interface Props {
  opened: boolean;
  name: string;
  /** What a copy beside it would be called. */
  copy: string;
  onReload: () => void;
  onOverwrite: () => void;
  onCopy: () => void;
  onClose: () => void;
}

/** Somebody else changed the file since it was opened: asks whose text it shall be. */
export function ConflictDialog({ opened, name, copy, onReload, onOverwrite, onCopy, onClose }: Props) {
  const { t } = useLingui();
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t`Changed by someone else`}
      closeButtonProps={{ "aria-label": t`Go on writing` }}
    >
      <Stack>
        <Text size="sm">
          <Trans>
            <b>{name}</b> is not what it was when you opened it. Nothing has been overwritten.
          </Trans>
        </Text>
        <Button onClick={onCopy} data-autofocus>
          <Trans>Save mine as {copy}</Trans>
        </Button>
        <Button variant="default" onClick={onReload}>
          <Trans>Show theirs, and throw mine away</Trans>
        </Button>
        <Button color="red" variant="light" onClick={onOverwrite}>
          <Trans>Overwrite theirs with mine</Trans>
        </Button>
      </Stack>
    </Modal>
  );
}
