import { Trans, useLingui } from "@lingui/react/macro";
import { Alert } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { signInOptionsQuery, useForgotPassword } from "@/queries/auth";
import { EmailForm } from "./EmailForm";
import { EntryCard } from "./EntryCard";
import { MailSent } from "./MailSent";

/** Requests a password reset link. */
export function ForgotPasswordPage() {
  const { t } = useLingui();
  const { data: greeting } = useQuery(signInOptionsQuery);
  const forgot = useForgotPassword();
  return (
    <EntryCard
      title={t`Forgot your password?`}
      text={t`We e-mail you a link to set a new password. The link expires in 30 minutes.`}
      back
    >
      {greeting?.forgot_password === false ? (
        <Alert color="brass" variant="light">
          <Trans>This site cannot send e-mail. Ask an administrator for a password reset link.</Trans>
        </Alert>
      ) : forgot.isSuccess ? (
        <MailSent title={t`Check your e-mail`}>
          <Trans>
            If an account exists for {forgot.variables}, we sent a link to it. Check the spam folder too.
          </Trans>
        </MailSent>
      ) : (
        <EmailForm submit={t`Send reset link`} send={forgot} />
      )}
    </EntryCard>
  );
}
