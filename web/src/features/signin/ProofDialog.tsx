import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Modal, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { takesPasskeys } from "@/api/passkey";
import { identityConfirmation } from "@/api/proof";
import type { Factors } from "@/api/types";
import { signInOptionsQuery, useConfirmItIsYou } from "@/queries/auth";
import { factorsShowQuery } from "@/queries/factors";
import { type Mean, ProofFields } from "./ProofFields";

/** Asks the user to confirm their identity for a waiting request; see `send` in api/client. */
export function ProofDialog() {
  const { t } = useLingui();
  const { data: factors, isPending } = useQuery(factorsShowQuery);
  const { data: greeting } = useQuery(signInOptionsQuery);
  const confirm = useConfirmItIsYou();
  const here = encodeURIComponent(window.location.pathname + window.location.search);
  const cancel = () => identityConfirmation.settle(false);
  return (
    <Modal
      opened
      onClose={cancel}
      title={t`Confirm your identity`}
      closeButtonProps={{ "aria-label": t`Close` }}
      size="26rem"
      zIndex={400}
    >
      {/* Stops Escape from reaching what is open behind the dialog. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: closes the dialog as its own Escape handler would */}
      <div onKeyDown={(event) => event.key === "Escape" && cancel()}>
        <Stack>
          <Text size="sm">{t`This action needs a recent sign-in. You are asked once every 15 minutes.`}</Text>
          {!isPending && (
            <ProofFields
              methods={methodsOf(factors)}
              onProve={async (evidence) => {
                await confirm.mutateAsync(evidence);
                identityConfirmation.settle(true);
              }}
              submit={t`Confirm`}
              other={{ label: t`Cancel`, onClick: cancel }}
            />
          )}
          {greeting?.providers.map(
            ({ name, label, start }) =>
              start && (
                <Anchor key={name} size="sm" href={`${start}?fresh=true&return_to=${here}`}>
                  <Trans>Sign in with {label || name}</Trans>
                </Anchor>
              ),
          )}
        </Stack>
      </div>
    </Modal>
  );
}

/** The proof methods for these factors; the password first, as the most familiar. */
function methodsOf(factors: Factors | undefined): Mean[] {
  const methods: Mean[] = ["password"];
  if (factors?.totp_since) methods.push("code");
  if (factors?.passkeys_possible && factors.passkeys.length > 0 && takesPasskeys()) methods.push("passkey");
  if (factors && factors.recovery_codes_left > 0) methods.push("recovery_code");
  return methods;
}
