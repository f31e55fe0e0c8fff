import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Stack, Text } from "@mantine/core";
import { IconDeviceMobile, IconFingerprint } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { takesPasskeys } from "@/api/passkey";
import { authMeQuery } from "@/queries/auth";
import { factorsShowQuery, useAddPasskey } from "@/queries/factors";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { RecoveryCodeList } from "./RecoveryCodeList";
import { TotpSetup } from "./TotpSetup";
import { useStartOver } from "./use-start-over";

interface Props {
  /** New recovery codes, shown before continuing. */
  codes: string[] | undefined;
  onCodes: (codes: string[]) => void;
  onDone: () => void;
}

/** Requires a user without a second factor to set one up: an authenticator app or a passkey. */
export function EnrolStep({ codes, onCodes, onDone }: Props) {
  const { t } = useLingui();
  const client = useQueryClient();
  const { data: factors } = useQuery({ ...factorsShowQuery, enabled: codes === undefined });
  const passkey = useAddPasskey();
  const startOver = useStartOver();
  const [byApp, setByApp] = useState(false);

  const added = (made: string[]) => {
    if (made.length > 0) onCodes(made);
    // The sign-in is complete; refetch the current user.
    void client.fetchQuery({ ...authMeQuery, staleTime: 0 });
  };
  if (codes) return <RecoveryCodeList codes={codes} onDone={onDone} />;
  if (byApp) return <TotpSetup onDone={added} onCancel={() => setByApp(false)} />;
  return (
    <Stack>
      <Button
        size="md"
        leftSection={<IconDeviceMobile size={18} aria-hidden />}
        onClick={() => setByApp(true)}
      >
        <Trans>Use an authenticator app</Trans>
      </Button>
      {factors?.passkeys_possible && takesPasskeys() && (
        <>
          <Button
            size="md"
            variant="default"
            leftSection={<IconFingerprint size={18} aria-hidden />}
            loading={passkey.isPending}
            onClick={() => passkey.mutate(t`First passkey`, { onSuccess: added })}
          >
            <Trans>Create passkey</Trans>
          </Button>
          <Text size="xs" c="dimmed">
            <Trans>Your device or password manager stores the passkey. No code is needed.</Trans>
          </Text>
        </>
      )}
      {passkey.error && <ProblemAlert problem={passkey.error} />}
      <Button variant="subtle" color="gray" size="compact-sm" onClick={startOver}>
        <Trans>Use another account</Trans>
      </Button>
    </Stack>
  );
}
