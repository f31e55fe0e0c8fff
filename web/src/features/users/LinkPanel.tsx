import { Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { RecoveryLink } from "@/api/types";
import { SecretPanel } from "@/ui/form/SecretPanel";
import { Instant } from "@/ui/Instant";

/** Shows a one-time link, once. */
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
