import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SessionDetail } from "@/api/types";
import { sshQuery } from "@/queries/ssh-keys";
import { CommandLine } from "@/ui/CommandLine";
import { CopyButton } from "@/ui/CopyButton";
import { ProblemAlert } from "@/ui/ProblemAlert";
import styles from "./SessionDrawer.module.css";

/** How to reach a running session by SSH. */
export function SshFacts({ session }: { session: SessionDetail }) {
  const { t } = useLingui();
  const ssh = useQuery(sshQuery);
  if (ssh.isError) return <ProblemAlert problem={ssh.error} onRetry={() => void ssh.refetch()} />;
  return (
    <Stack gap={6} component="section" aria-label={t`SSH`}>
      <Text size="sm" fw={500}>
        SSH
      </Text>
      {ssh.data?.port && (
        <>
          <CommandLine text={`ssh -p ${ssh.data.port} ${session.id}@${ssh.data.host}`} />
          <Group gap={2}>
            <Text size="sm" c="dimmed">
              <Trans>Host key</Trans>
            </Text>
            <span className={styles.mono}>{ssh.data.fingerprint}</span>
            <CopyButton text={ssh.data.fingerprint} label={t`Copy fingerprint`} />
          </Group>
        </>
      )}
      <CommandLine text={`carrel ssh-config && ssh carrel.${session.id}`} />
      <Text size="sm" c="dimmed">
        <Trans>
          ssh needs one of your{" "}
          <Anchor component={Link} to="/settings/ssh-keys" size="sm" underline="always">
            SSH keys
          </Anchor>
          ; carrel ssh-config needs none, and sets up editors too.
        </Trans>
      </Text>
    </Stack>
  );
}
