import { Trans, useLingui } from "@lingui/react/macro";
import { Stack, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { NodeBadge } from "@/features/resources/NodeBadge";
import { NodeOverview } from "@/features/resources/NodeOverview";
import { NodeSessions } from "@/features/resources/NodeSessions";
import { nodesShowQuery } from "@/queries/nodes";
import { CommandLine } from "@/ui/CommandLine";
import { commandLine } from "@/ui/command";
import { DetailDrawer } from "@/ui/DetailDrawer";

interface Props {
  opened: boolean;
  id: string;
  onClose: () => void;
}

/** A node as its users see it: its resources, and their own sessions on it. */
export function AgentDrawer({ opened, id, onClose }: Props) {
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
    >
      {query.data && (
        <Stack gap="lg">
          <NodeOverview node={query.data} />
          <section>
            <Title order={2} size="h4" mb="xs">
              <Trans>Sessions you can see</Trans>
            </Title>
            <NodeSessions node={query.data} />
          </section>
          <CommandLine text={commandLine("carrel", "node", "show", query.data.name)} />
        </Stack>
      )}
    </DetailDrawer>
  );
}
