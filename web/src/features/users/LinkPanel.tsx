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
      title={t`Send this link to the user`}
      secret={link.url}
      copyLabel={t`Copy link`}
      onDone={onDone}
    >
      <Text size="sm">
        <Trans>
          The link sets the password of <b>{email}</b>. It works once and expires{" "}
          <Instant at={link.expires_at} />.
        </Trans>
      </Text>
    </SecretPanel>
  );
}
