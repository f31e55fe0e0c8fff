import { useLingui } from "@lingui/react/macro";
import { Group } from "@mantine/core";
import { IconDoorExit, IconLock, IconLockOpen, IconPencil } from "@tabler/icons-react";
import type { Node } from "@/api/types";
import { RowTool } from "@/ui/table/RowTool";
import type { NodeActs } from "./use-node-acts";

/** The row buttons of a node. */
export function NodeTools({ node, acts }: { node: Node; acts: NodeActs }) {
  const { t } = useLingui();
  const { name } = node;
  return (
    <Group gap={0} wrap="nowrap" justify="flex-end">
      <RowTool
        label={t`Edit`}
        row={name}
        icon={IconPencil}
        refusal={acts.why}
        onClick={() => acts.edit(node)}
      />
      <RowTool
        label={node.cordoned ? t`Uncordon: accept new sessions` : t`Cordon: accept no new sessions`}
        row={name}
        icon={node.cordoned ? IconLockOpen : IconLock}
        refusal={acts.why}
        onClick={() => void acts.setCordoned(node, !node.cordoned)}
      />
      <RowTool
        label={t`Drain: move or terminate its sessions`}
        row={name}
        icon={IconDoorExit}
        refusal={acts.whyNotDrain(node)}
        onClick={() => acts.drain(node)}
      />
    </Group>
  );
}
