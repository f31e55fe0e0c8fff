import { Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { NewKeypair } from "@/api/types";
import { CommandLine } from "@/ui/CommandLine";
import { SecretPanel } from "@/ui/form/SecretPanel";

/** Shows the secret of a new keypair, once. */
export function NewKeypairCard({ keypair, onDone }: { keypair: NewKeypair; onDone: () => void }) {
  const { t } = useLingui();
  const lines = [
    `export CARREL_URL=${location.origin}`,
    `export CARREL_ACCESS_KEY=${keypair.access_key}`,
    `export CARREL_SECRET_KEY=${keypair.secret_key}`,
  ].join("\n");
  return (
    <SecretPanel
      title={t`Copy the secret key now`}
      secret={keypair.secret_key}
      copyLabel={t`Copy secret key`}
      onDone={onDone}
    >
      <Text size="sm">
        <Trans>For scripts:</Trans>
      </Text>
      <CommandLine text={lines} />
    </SecretPanel>
  );
}
