import { Trans, useLingui } from "@lingui/react/macro";
import { Alert } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { greetingQuery, useForgotPassword } from "@/queries/auth";
import { EmailForm } from "./EmailForm";
import { EntryCard } from "./EntryCard";
import { MailSent } from "./MailSent";

/** Asks for a link with which a new password is set. */
export function ForgotPasswordPage() {
  const { t } = useLingui();
  const { data: greeting } = useQuery(greetingQuery);
  const forgot = useForgotPassword();
  return (
    <EntryCard
      title={t`Forgot your password?`}
      text={t`We send a link with which you set a new one. It is good for half an hour.`}
      back
    >
      {greeting?.forgot_password === false ? (
        <Alert color="brass" variant="light">
          <Trans>
            This site sends no mail. Ask an administrator for a link with which you set a new password.
          </Trans>
        </Alert>
      ) : forgot.isSuccess ? (
        <MailSent title={t`Look into your mailbox`}>
          <Trans>
            If somebody has an account by {forgot.variables}, a link is on its way. Look into the spam folder
            too.
          </Trans>
        </MailSent>
      ) : (
        <EmailForm submit={t`Send me a link`} send={forgot} />
      )}
    </EntryCard>
  );
}
