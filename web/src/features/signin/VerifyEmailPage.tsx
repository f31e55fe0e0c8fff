import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Stack, Text } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import { Link, useLocation } from "@tanstack/react-router";
import { useVerifyAgain, useVerifyEmail } from "@/queries/auth";
import { EmailForm } from "./EmailForm";
import { EntryCard } from "./EntryCard";
import { linkToken } from "./link-token";
import { MailSent } from "./MailSent";
import { SignInProblem } from "./SignInProblem";

/** Verifies an e-mail address with the link that was sent to it. */
export function VerifyEmailPage() {
  const { t } = useLingui();
  const token = linkToken(useLocation({ select: (here) => here.hash }));
  const verify = useVerifyEmail();
  const again = useVerifyAgain();
  const spent = token === null || verify.error?.code === "auth.link_spent";
  if (verify.isSuccess) {
    return (
      <EntryCard title={t`E-mail address verified`}>
        <Alert color="lamp" variant="light" icon={<IconCheck size={18} aria-hidden />} role="status">
          <Trans>You can sign in now.</Trans>
        </Alert>
        <Button component={Link} to="/signin" size="md">
          <Trans>Sign in</Trans>
        </Button>
      </EntryCard>
    );
  }
  if (!spent) {
    return (
      <EntryCard
        title={t`Verify your e-mail address`}
        text={t`Click the button to verify your address. Then you can sign in.`}
      >
        {verify.error && <SignInProblem problem={verify.error} />}
        <Button size="md" autoFocus loading={verify.isPending} onClick={() => verify.mutate(token)}>
          <Trans>Verify address</Trans>
        </Button>
      </EntryCard>
    );
  }
  return (
    <EntryCard title={t`Verify your e-mail address`} back>
      {again.isSuccess ? (
        <MailSent title={t`Check your e-mail`}>
          <Trans>If an account with {again.variables} is not verified yet, we sent a new link.</Trans>
        </MailSent>
      ) : (
        <Stack>
          <Alert color="red" variant="light" role="alert" title={t`This link does not work`}>
            <Text size="sm">
              <Trans>The link is expired, already used, or incomplete.</Trans>
            </Text>
          </Alert>
          <EmailForm submit={t`Send the link again`} send={again} />
        </Stack>
      )}
    </EntryCard>
  );
}
