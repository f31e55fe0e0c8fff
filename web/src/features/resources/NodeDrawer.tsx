import { useLingui } from "@lingui/react/macro";
import { Stack } from "@mantine/core";
import { IconDoorExit, IconLock, IconLockOpen, IconPencil, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { NodeDetail } from "@/api/types";
import { nodesShowQuery } from "@/queries/nodes";
import type { NodeTab } from "@/routing/search";
import { CommandLine } from "@/ui/CommandLine";
import { commandLine } from "@/ui/command";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { DetailTabs } from "@/ui/DetailTabs";
import { MainButton } from "@/ui/MainButton";
import { NodeBadge } from "./NodeBadge";
import { NodeImages } from "./NodeImages";
import { NodeOverview } from "./NodeOverview";
import { NodeSessions } from "./NodeSessions";
import type { NodeActs } from "./use-node-acts";

interface Props {
  opened: boolean;
  id: string;
  tab: NodeTab | undefined;
  acts: NodeActs;
  onTab: (tab: NodeTab | undefined) => void;
  onClose: () => void;
}

/** Details of a node. */
export function NodeDrawer({ opened, id, tab, acts, onTab, onClose }: Props) {
  const { t } = useLingui();
  const query = useQuery(nodesShowQuery(id));
  return (
    <DetailDrawer
      opened={opened}
      id={id}
      onClose={onClose}
      size="xl"
      title={query.data?.name ?? t`Node`}
      query={query}
      state={query.data && <NodeBadge node={query.data} />}
      actions={query.data && <NodeActions node={query.data} acts={acts} />}
    >
      {query.data && <Detail node={query.data} tab={tab} onTab={onTab} />}
    </DetailDrawer>
  );
}

function NodeActions({ node, acts }: { node: NodeDetail; acts: NodeActs }) {
  const { t } = useLingui();
  return (
    <>
      <MainButton
        variant="default"
        icon={IconPencil}
        label={t`Edit`}
        refusal={acts.why}
        onClick={() => acts.edit(node)}
      />
      <MainButton
        variant="default"
        icon={node.cordoned ? IconLockOpen : IconLock}
        label={node.cordoned ? t`Uncordon` : t`Cordon`}
        refusal={acts.why}
        onClick={() => void acts.setCordoned(node, !node.cordoned)}
      />
      <MainButton
        variant="default"
        icon={IconDoorExit}
        label={t`Drain…`}
        refusal={acts.whyNotDrain(node)}
        onClick={() => acts.drain(node)}
      />
      {node.state === "DOWN" && (
        <MainButton
          variant="default"
          icon={IconTrash}
          label={t`Forget…`}
          refusal={acts.why}
          onClick={() => acts.forget(node)}
        />
      )}
    </>
  );
}

function Detail({ node, tab, onTab }: { node: NodeDetail } & Pick<Props, "tab" | "onTab">) {
  const { t } = useLingui();
  return (
    <Stack gap="md">
      <DetailTabs
        value={tab}
        onChange={onTab}
        tabs={[
          { name: "overview", label: t`Overview`, content: <NodeOverview node={node} /> },
          {
            name: "sessions",
            label: t`Sessions (${node.sessions.length})`,
            content: <NodeSessions node={node} />,
          },
          {
            name: "images",
            label: t`Images`,
            content: <NodeImages node={node} />,
          },
        ]}
      />
      <CommandLine text={commandLine("carrel", "node", node.cordoned ? "uncordon" : "cordon", node.name)} />
    </Stack>
  );
}
