import { Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { RecoveryLink } from "@/api/types";
import { SecretPanel } from "@/ui/form/SecretPanel";
import { Instant } from "@/ui/Instant";

/** A one-time link to hand over, the only time that it is shown. */
export function LinkPanel({
  email,
  link,
  onDone,
}: {
  email: string;
  link: RecoveryLink;
  onDone: () => void;
}) {
  const { t } = useLingui();
  return (
    <SecretPanel
      title={t`Give them this link`}
      secret={link.url}
      copyLabel={t`Copy the link`}
      onDone={onDone}
    >
      <Text size="sm">
        <Trans>
          Whoever opens it sets the password of <b>{email}</b>, once, until <Instant at={link.expires_at} />.
        </Trans>
      </Text>
    </SecretPanel>
  );
}
