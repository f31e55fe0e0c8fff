import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Alert, Anchor, Group, Skeleton, Text } from "@mantine/core";
import { IconDeviceMobile, IconKey } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Factors } from "@/api/types";
import { RecoveryCodeList } from "@/features/signin/RecoveryCodeList";
import { TotpSetup } from "@/features/signin/TotpSetup";
import { useRefusal } from "@/me/may";
import { factorsShowQuery, useRemoveTotp, useRenewRecoveryCodes } from "@/queries/factors";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { Instant } from "@/ui/Instant";
import { MainButton } from "@/ui/MainButton";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { StateBadge } from "@/ui/StateBadge";
import { Panel, Sheet } from "./Sheet";

/** Two-factor authentication: an authenticator app and recovery codes. */
export function TwoFactorPage() {
  const { t } = useLingui();
  const factors = useQuery(factorsShowQuery);
  const [codes, setCodes] = useState<string[]>([]);
  return (
    <Sheet
      title={t`Two-factor authentication`}
      text={t`After your password, you enter a code from your device. A stolen password alone is not enough to sign in.`}
    >
      {codes.length > 0 && <RecoveryCodeList codes={codes} onDone={() => setCodes([])} />}
      {factors.isPending && <Skeleton height={180} aria-busy />}
      {factors.error && <ProblemAlert problem={factors.error} onRetry={() => void factors.refetch()} />}
      {factors.data && (
        <>
          {factors.data.required && (
            <Alert color="lamp" variant="light">
              <Trans>This site requires two-factor authentication: an authenticator app or a passkey.</Trans>
            </Alert>
          )}
          <AppPanel factors={factors.data} onCodes={setCodes} />
          <RecoveryPanel factors={factors.data} onCodes={setCodes} />
        </>
      )}
    </Sheet>
  );
}

interface Props {
  factors: Factors;
  onCodes: (codes: string[]) => void;
}

function AppPanel({ factors, onCodes }: Props) {
  const { t } = useLingui();
  const [setting, setSetting] = useState(false);
  const remove = useRemoveTotp();
  const refused = useRefusal()("factor.update");
  const only = factors.required && factors.passkeys.length === 0;
  const askRemove = () =>
    askToConfirm({
      title: t`Remove authenticator app`,
      closeLabel: t`Close`,
      confirm: t`Turn off`,
      onConfirm: () => remove.mutateAsync(),
      children:
        factors.passkeys.length > 0 ? (
          <Trans>Codes from the app stop working. Your passkeys remain.</Trans>
        ) : (
          <Trans>
            Codes from the app and your recovery codes stop working. You then sign in with your password
            alone.
          </Trans>
        ),
    });
  if (setting) {
    const done = (codes: string[]) => {
      setSetting(false);
      onCodes(codes);
    };
    return (
      <Panel title={t`Set up authenticator app`}>
        <TotpSetup onDone={done} onCancel={() => setSetting(false)} />
      </Panel>
    );
  }
  return (
    <Panel title={t`Authenticator app`} path="totp">
      <Group gap="xs">
        {factors.totp_since ? (
          <>
            <StateBadge look="ok">
              <Trans>On</Trans>
            </StateBadge>
            <Text size="sm" c="dimmed">
              <Trans>
                since <Instant at={factors.totp_since} />
              </Trans>
            </Text>
          </>
        ) : (
          <StateBadge look="off">
            <Trans>Off</Trans>
          </StateBadge>
        )}
      </Group>
      <Text size="sm">
        <Trans>
          An app on your phone or your password manager generates a six-digit code every 30 seconds.
        </Trans>
      </Text>
      <Group>
        {factors.totp_since ? (
          <MainButton
            variant="default"
            color="red"
            label={t`Turn off…`}
            refusal={
              refused ?? (only ? t`This site requires two-factor authentication. Add a passkey first.` : null)
            }
            onClick={askRemove}
          />
        ) : (
          <MainButton
            icon={IconDeviceMobile}
            label={t`Set up`}
            refusal={refused}
            onClick={() => setSetting(true)}
          />
        )}
      </Group>
    </Panel>
  );
}

function RecoveryPanel({ factors, onCodes }: Props) {
  const { t } = useLingui();
  const renew = useRenewRecoveryCodes();
  const refused = useRefusal()("factor.update");
  const none = factors.totp_since === null && factors.passkeys.length === 0;
  const left = factors.recovery_codes_left;
  const askRenew = () =>
    askToConfirm({
      title: t`Generate new recovery codes`,
      closeLabel: t`Close`,
      confirm: t`Generate new codes`,
      onConfirm: async () => onCodes(await renew.mutateAsync()),
      children: <Trans>Your current recovery codes stop working.</Trans>,
    });
  return (
    <Panel title={t`Recovery codes`} path="recovery">
      <Text size="sm">
        {none ? (
          <Trans>
            You get recovery codes when you set up an authenticator app or a{" "}
            <Anchor
              inherit
              underline="always"
              renderRoot={(props) => <Link {...props} to="/settings/passkeys" />}
            >
              passkey
            </Anchor>
            .
          </Trans>
        ) : left === 0 ? (
          <Trans>
            You have no codes left. Generate new ones, or you cannot sign in if you lose your device.
          </Trans>
        ) : (
          <Plural value={left} one="You have # code left." other="You have # codes left." />
        )}
      </Text>
      <Group>
        <MainButton
          variant="default"
          icon={IconKey}
          label={t`Generate new codes…`}
          refusal={refused ?? (none ? t`Two-factor authentication is not set up.` : null)}
          onClick={askRenew}
        />
      </Group>
    </Panel>
  );
}
