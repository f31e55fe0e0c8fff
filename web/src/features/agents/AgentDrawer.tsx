import { Trans, useLingui } from "@lingui/react/macro";
import { Drawer, Skeleton, Stack, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { NodeOverview } from "@/features/resources/NodeOverview";
import { NodeSessions } from "@/features/resources/NodeSessions";
import { nodesShowQuery } from "@/queries/nodes";
import { CommandLine } from "@/ui/CommandLine";
import { commandLine } from "@/ui/command";
import { ProblemAlert } from "@/ui/ProblemAlert";

interface Props {
  opened: boolean;
  id: string;
  onClose: () => void;
}

/** One node as those see it who use it: what it has and offers, and their own sessions on it. */
export function AgentDrawer({ opened, id, onClose }: Props) {
  const { t } = useLingui();
  const found = useQuery(nodesShowQuery(id));
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      size="xl"
      title={found.data?.name ?? t`Node`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {found.isPending && <Skeleton height={240} aria-busy />}
      {found.isError && <ProblemAlert problem={found.error} onRetry={() => void found.refetch()} />}
      {found.data && (
        <Stack gap="lg">
          <NodeOverview node={found.data} />
          <section>
            <Title order={2} size="h4" mb="xs">
              <Trans>Sessions you can see</Trans>
            </Title>
            <NodeSessions node={found.data} />
          </section>
          <CommandLine text={commandLine("carrel", "node", "show", found.data.name)} />
        </Stack>
      )}
    </Drawer>
  );
}
