import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Checkbox, Group, Modal, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useLast } from "@/ui/use-last";
import { uploads } from "./queue";
import { useUploadItems } from "./use-uploads";

/** Asks how to resolve the name conflicts of uploads, one after another. */
export function UploadConflictDialog() {
  const { t } = useLingui();
  const items = useUploadItems();
  const asking = items.filter(({ state }) => state === "asking");
  const conflict = useLast(asking[0]);
  const [forAll, setForAll] = useState(false);
  if (!conflict) return null;
  const others = items.filter((one) => one.batch === conflict.batch && one.key !== conflict.key).length;
  const answer = (choice: "replace" | "rename" | "skip") =>
    uploads.answer(conflict.key, choice, forAll && others > 0);
  return (
    <Modal
      opened={asking.length > 0}
      onClose={() => answer("skip")}
      title={t`File already exists`}
      closeButtonProps={{ "aria-label": t`Skip` }}
    >
      <Stack>
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          <Trans>
            <b>{conflict.folder.name}</b> already contains <b>{conflict.path}</b>.
          </Trans>
        </Text>
        {others > 0 && (
          <Checkbox
            label={t`Apply to all files of this upload`}
            checked={forAll}
            onChange={(event) => setForAll(event.currentTarget.checked)}
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={() => answer("skip")}>
            <Trans>Skip</Trans>
          </Button>
          <Button variant="default" onClick={() => answer("rename")} data-autofocus>
            <Trans>Keep both</Trans>
          </Button>
          <Button color="red" onClick={() => answer("replace")}>
            <Trans>Replace</Trans>
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
