import { Trans, useLingui } from "@lingui/react/macro";
import { Group } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconPencil, IconPlayerPause, IconPlayerPlay, IconRefresh, IconTrash } from "@tabler/icons-react";
import { type ReactNode, useCallback } from "react";
import { toProblem } from "@/api/problem";
import type { Keypair, NewKeypair } from "@/api/types";
import { useRefusal } from "@/me/may";
import { useRemoveKeypair, useRotateKeypair, useUpdateKeypair } from "@/queries/keypairs";
import { useProblemText } from "@/sentences/use-problem-text";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { RowTool } from "@/ui/table/RowTool";

interface Wishes {
  onEdit: (keypair: Keypair) => void;
  /** Receives the new secret of a keypair. */
  onSecret: (made: NewKeypair) => void;
}

/** The actions on one's own keypair: row buttons and keyboard shortcuts. */
export function useKeypairTools({ onEdit, onSecret }: Wishes) {
  const { t } = useLingui();
  const refusal = useRefusal();
  const problemText = useProblemText();
  const { mutate: update } = useUpdateKeypair();
  const { mutateAsync: rotate } = useRotateKeypair();
  const { mutateAsync: remove } = useRemoveKeypair();

  const toggle = useCallback(
    ({ access_key, active }: Keypair) =>
      update(
        { key: access_key, active: !active },
        {
          onError: (thrown) => {
            notifications.show({ color: "red", message: problemText(toProblem(thrown)).detail });
          },
        },
      ),
    [update, problemText],
  );
  const askRotate = useCallback(
    ({ access_key }: Keypair) =>
      askToConfirm({
        title: t`Regenerate secret key`,
        closeLabel: t`Close`,
        confirm: t`Regenerate secret key`,
        command: commandLine("carrel", "keypair", "rotate", access_key),
        onConfirm: async () => onSecret(await rotate(access_key)),
        children: (
          <Trans>
            The current secret key of <b>{access_key}</b> stops working immediately.
          </Trans>
        ),
      }),
    [t, rotate, onSecret],
  );
  const askRemove = useCallback(
    ({ access_key }: Keypair) =>
      askToConfirm({
        title: t`Delete keypair`,
        closeLabel: t`Close`,
        confirm: t`Delete`,
        command: commandLine("carrel", "keypair", "rm", access_key),
        onConfirm: () => remove(access_key),
        children: (
          <Trans>
            Scripts and command lines that use <b>{access_key}</b> stop working immediately. This cannot be
            undone.
          </Trans>
        ),
      }),
    [t, remove],
  );

  const tools = useCallback(
    (keypair: Keypair): ReactNode => {
      const row = keypair.name || keypair.access_key;
      return (
        <Group gap={0} wrap="nowrap" justify="flex-end">
          <RowTool
            label={t`Rename`}
            row={row}
            icon={IconPencil}
            refusal={refusal("keypair.update", { owner: keypair.owner.id })}
            onClick={() => onEdit(keypair)}
          />
          <RowTool
            label={keypair.active ? t`Deactivate` : t`Activate`}
            row={row}
            icon={keypair.active ? IconPlayerPause : IconPlayerPlay}
            refusal={refusal("keypair.update", { owner: keypair.owner.id })}
            onClick={() => toggle(keypair)}
          />
          <RowTool
            label={t`Regenerate secret key`}
            row={row}
            icon={IconRefresh}
            refusal={refusal("keypair.rotate", { owner: keypair.owner.id })}
            onClick={() => askRotate(keypair)}
          />
          <RowTool
            label={t`Delete`}
            row={row}
            icon={IconTrash}
            color="red"
            refusal={refusal("keypair.remove", { owner: keypair.owner.id })}
            onClick={() => askRemove(keypair)}
          />
        </Group>
      );
    },
    [t, refusal, onEdit, toggle, askRotate, askRemove],
  );
  const acts = useCallback(
    (keypair: Keypair) => {
      const removeIt = () => askRemove(keypair);
      return { Delete: removeIt };
    },
    [askRemove],
  );
  return { tools, acts };
}
