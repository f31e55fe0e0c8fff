import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import type { NewKeypair } from "@/api/types";
import { CommandLine } from "@/ui/CommandLine";
import { CopyButton } from "@/ui/CopyButton";

/** The secret of a new keypair, the only time it is shown. */
export function NewKeypairCard({ keypair, onDone }: { keypair: NewKeypair; onDone: () => void }) {
  const { t } = useLingui();
  const lines = [
    `export CARREL_URL=${location.origin}`,
    `export CARREL_ACCESS_KEY=${keypair.access_key}`,
    `export CARREL_SECRET_KEY=${keypair.secret_key}`,
  ].join("\n");
  return (
    <Alert
      color="brass"
      variant="light"
      icon={<IconKey size={18} aria-hidden />}
      title={t`Copy the secret now`}
    >
      <Stack gap="xs">
        <Text size="sm">
          <Trans>It is shown this one time; the server keeps only its fingerprint.</Trans>
        </Text>
        <Group gap={4} wrap="nowrap">
          <Text ff="monospace" size="sm" style={{ overflowWrap: "anywhere" }}>
            {keypair.secret_key}
          </Text>
          <CopyButton text={keypair.secret_key} label={t`Copy the secret key`} />
        </Group>
        <Text size="sm">
          <Trans>For scripts:</Trans>
        </Text>
        <CommandLine text={lines} />
        <Group>
          <Button size="xs" variant="default" onClick={onDone}>
            <Trans>I have copied it</Trans>
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
