import { Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { NewToken } from "@/api/types";
import { CommandLine } from "@/ui/CommandLine";
import { SecretPanel } from "@/ui/form/SecretPanel";

/** Shows a new token, once, and how a script uses it. */
export function NewTokenCard({ token, onDone }: { token: NewToken; onDone: () => void }) {
  const { t } = useLingui();
  const carrel = [`export CARREL_URL=${location.origin}`, `export CARREL_TOKEN=${token.token}`].join("\n");
  return (
    <SecretPanel title={t`Copy the token now`} secret={token.token} copyLabel={t`Copy token`} onDone={onDone}>
      <Text size="sm">
        <Trans>For the command line and the SDK:</Trans>
      </Text>
      <CommandLine text={carrel} />
      <Text size="sm">
        <Trans>For other programs:</Trans>
      </Text>
      <CommandLine
        text={`curl -H 'Authorization: Bearer ${token.token}' ${location.origin}/api/v1/auth/me`}
      />
    </SecretPanel>
  );
}
