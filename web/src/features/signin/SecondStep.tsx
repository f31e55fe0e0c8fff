import { useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { takesPasskeys } from "@/api/passkey";
import { signInOptionsQuery, useSecondStep } from "@/queries/auth";
import { ProofFields } from "./ProofFields";
import { useStartOver } from "./use-start-over";

/** The second factor, after the password was accepted. */
export function SecondStep() {
  const { t } = useLingui();
  const { data: greeting } = useQuery(signInOptionsQuery);
  const step = useSecondStep();
  const startOver = useStartOver();
  const passkeys = greeting?.passkeys === true && takesPasskeys();
  return (
    <ProofFields
      methods={passkeys ? ["code", "passkey", "recovery_code"] : ["code", "recovery_code"]}
      onProve={step.mutateAsync}
      submit={t`Continue`}
      other={{ label: t`Use another account`, onClick: startOver }}
    />
  );
}
