import { Trans, useLingui } from "@lingui/react/macro";
import { Group } from "@mantine/core";
import { IconGauge, IconPlayerPause, IconPlayerPlay, IconRuler2, IconTrash } from "@tabler/icons-react";
import type { Keypair } from "@/api/types";
import { useAssign } from "@/features/policies/use-assign";
import { useRefusal } from "@/me/may";
import { useDeleteKeypair, useUpdateKeypair } from "@/queries/keypairs";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { openFormDialog } from "@/ui/form/FormDialog";
import { RowTool } from "@/ui/table/RowTool";
import { RateLimitForm } from "./RateLimitForm";

/** Administrative actions on a user's keypair. `domain`: id of the owner's domain. */
export function KeypairTools({ keypair, domain }: { keypair: Keypair; domain: string | undefined }) {
  const { t } = useLingui();
  const refusal = useRefusal();
  const assign = useAssign();
  const update = useUpdateKeypair();
  const remove = useDeleteKeypair();
  const key = keypair.access_key;
  // The list contains only permitted keypairs, but not their domains.
  const whose = domain === undefined ? undefined : { owner: keypair.owner.id, domain };
  const askLimit = () =>
    openFormDialog({
      title: t`Rate limit`,
      form: (close) => <RateLimitForm keypair={keypair} onDone={close} />,
    });
  return (
    <Group gap={0} wrap="nowrap" justify="flex-end">
      <RowTool
        label={t`Rate limit`}
        row={key}
        icon={IconGauge}
        refusal={refusal("keypair.limit", whose)}
        onClick={askLimit}
      />
      <RowTool
        label={t`Resource policy: ${keypair.policy.name}`}
        row={key}
        icon={IconRuler2}
        refusal={refusal("policy.assign", whose)}
        onClick={() => assign(keypair.policy, { kind: "keypairs", id: key, label: key })}
      />
      <RowTool
        label={keypair.active ? t`Deactivate` : t`Activate`}
        row={key}
        icon={keypair.active ? IconPlayerPause : IconPlayerPlay}
        refusal={refusal("keypair.update", whose)}
        onClick={() => update.mutate({ key, active: !keypair.active })}
      />
      <RowTool
        label={t`Delete`}
        row={key}
        icon={IconTrash}
        color="red"
        refusal={refusal("keypair.remove", whose)}
        onClick={() =>
          askToConfirm({
            title: t`Delete keypair`,
            closeLabel: t`Close`,
            confirm: t`Delete`,
            command: commandLine("carrel", "keypair", "rm", key),
            onConfirm: () => remove.mutateAsync(key),
            children: (
              <Trans>
                Scripts and command lines that use <b>{key}</b> stop working immediately. This cannot be
                undone.
              </Trans>
            ),
          })
        }
      />
    </Group>
  );
}
