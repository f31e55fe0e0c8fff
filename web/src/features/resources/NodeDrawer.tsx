import { useLingui } from "@lingui/react/macro";
import { Stack, Tabs } from "@mantine/core";
import { IconDoorExit, IconLock, IconLockOpen, IconPencil, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { NodeDetail } from "@/api/types";
import { nodesShowQuery } from "@/queries/nodes";
import { NODE_TABS, type NodeTab } from "@/routing/search";
import { CommandLine } from "@/ui/CommandLine";
import { commandLine } from "@/ui/command";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { MainButton } from "@/ui/MainButton";
import { NodeBadge } from "./NodeBadge";
import { NodeImages } from "./NodeImages";
import { NodeOverview } from "./NodeOverview";
import { NodeSessions } from "./NodeSessions";
import type { NodeActs } from "./use-node-acts";

interface Props {
  opened: boolean;
  id: string;
  tab: NodeTab;
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
  const names: Record<NodeTab, string> = {
    overview: t`Overview`,
    sessions: t`Sessions (${node.sessions.length})`,
    images: t`Images (${node.images})`,
  };
  return (
    <Stack gap="md">
      <Tabs
        value={tab}
        onChange={(next) => onTab(next === "overview" ? undefined : (next as NodeTab))}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {NODE_TABS.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {names[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="overview">
          <NodeOverview node={node} />
        </Tabs.Panel>
        <Tabs.Panel value="sessions">
          <NodeSessions node={node} />
        </Tabs.Panel>
        <Tabs.Panel value="images">
          <NodeImages names={node.image_names} />
        </Tabs.Panel>
      </Tabs>
      <CommandLine text={commandLine("carrel", "node", node.cordoned ? "uncordon" : "cordon", node.name)} />
    </Stack>
  );
}
