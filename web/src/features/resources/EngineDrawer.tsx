import { Trans, useLingui } from "@lingui/react/macro";
import { Stack, Text } from "@mantine/core";
import { IconPencil, IconPlugConnected, IconTrash } from "@tabler/icons-react";
import type { Engine } from "@/api/types";
import { type useCheckEngine, useRemoveEngine } from "@/queries/engines";
import { commandLine } from "@/ui/command";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { Facts } from "@/ui/Facts";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { Instant } from "@/ui/Instant";
import { MainButton } from "@/ui/MainButton";
import { AppLayerText } from "./AppLayerText";
import { EngineCheckResult } from "./EngineCheckResult";
import { EngineBadge } from "./engine-columns";
import { engineKindTitle, settingTitle } from "./engine-words";

interface Props {
  opened: boolean;
  engine: Engine;
  /** Its check, or that of another engine. */
  check: ReturnType<typeof useCheckEngine>;
  onEdit: () => void;
  onClose: () => void;
}

/** Details of an engine, with a check of its connection. */
export function EngineDrawer({ opened, engine, check, onEdit, onClose }: Props) {
  const { t, i18n } = useLingui();
  const { mutateAsync: remove } = useRemoveEngine();
  const askRemove = () =>
    askToConfirm({
      title: t`Remove engine`,
      closeLabel: t`Close`,
      confirm: t`Remove`,
      typedName: engine.name,
      command: commandLine("carrel", "engine", "rm", engine.name),
      onConfirm: async () => {
        await remove(engine.id);
        onClose();
      },
      children: (
        <Text size="sm">
          <Trans>Removes the engine and its nodes. An engine with containers cannot be removed.</Trans>
        </Text>
      ),
    });
  return (
    <DetailDrawer
      opened={opened}
      id={engine.id}
      title={engine.name}
      size="lg"
      state={<EngineBadge state={engine.state} />}
      actions={
        <>
          {" "}
          <MainButton variant="default" icon={IconPencil} label={t`Edit`} onClick={onEdit} />
          <MainButton
            variant="default"
            icon={IconPlugConnected}
            label={t`Check`}
            loading={check.isPending && check.variables === engine.id}
            onClick={() => check.mutate(engine.id)}
          />
          {!engine.local && (
            <MainButton variant="light" color="red" icon={IconTrash} label={t`Remove…`} onClick={askRemove} />
          )}
        </>
      }
      onClose={onClose}
    >
      <Stack gap="lg">
        {check.data && check.variables === engine.id && <EngineCheckResult check={check.data} />}
        <Facts
          facts={[
            [t`Since`, <Instant key="since" at={engine.state_since} />],
            [t`Last error`, engine.last_error ?? "–"],
            [t`App layer`, <AppLayerText key="layer" layer={engine.app_layer} />],
            [t`Kind`, engineKindTitle(i18n, engine.kind, engine.kind_title)],
            ...Object.entries(engine.settings).map(([name, value]): [string, string] => [
              settingTitle(i18n, engine.kind, name),
              String(value),
            ]),
            ...engine.secrets.map((name): [string, string] => [
              settingTitle(i18n, engine.kind, name),
              t`set`,
            ]),
            [t`Nodes`, String(engine.nodes)],
            [t`Containers`, String(engine.containers)],
          ]}
        />
      </Stack>
    </DetailDrawer>
  );
}
