import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Text } from "@mantine/core";
import type { Keypair } from "@/api/types";
import { CopyButton } from "@/ui/CopyButton";
import { StateBadge } from "@/ui/StateBadge";

/** The access key with a copy button. */
export function AccessKeyCell({ keypair }: { keypair: Keypair }) {
  const { t } = useLingui();
  return (
    <Group gap={4} wrap="nowrap">
      <Text ff="monospace" size="sm" style={{ overflowWrap: "anywhere" }}>
        {keypair.access_key}
      </Text>
      <CopyButton text={keypair.access_key} label={t`Copy access key`} />
      {!keypair.active && (
        <StateBadge look="off">
          <Trans>inactive</Trans>
        </StateBadge>
      )}
    </Group>
  );
}
