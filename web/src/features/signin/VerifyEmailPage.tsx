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

/** Proves an e-mail address by the link that was mailed to it. */
export function VerifyEmailPage() {
  const { t } = useLingui();
  const token = linkToken(useLocation({ select: (here) => here.hash }));
  const verify = useVerifyEmail();
  const again = useVerifyAgain();
  const spent = token === null || verify.error?.code === "auth.link_spent";
  if (verify.isSuccess) {
    return (
      <EntryCard title={t`Your address is verified`}>
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
        title={t`Verify your address`}
        text={t`One click, and you can sign in. Programs that open links in letters do not click.`}
      >
        {verify.error && <SignInProblem problem={verify.error} />}
        <Button size="md" autoFocus loading={verify.isPending} onClick={() => verify.mutate(token)}>
          <Trans>This is my address</Trans>
        </Button>
      </EntryCard>
    );
  }
  return (
    <EntryCard title={t`Verify your address`} back>
      {again.isSuccess ? (
        <MailSent title={t`Look into your mailbox`}>
          <Trans>If an account waits for {again.variables} to be verified, a new link is on its way.</Trans>
        </MailSent>
      ) : (
        <Stack>
          <Alert color="red" variant="light" role="alert" title={t`The link has expired`}>
            <Text size="sm">
              <Trans>It is too old, was used before, or was not copied whole.</Trans>
            </Text>
          </Alert>
          <EmailForm submit={t`Send the link again`} send={again} />
        </Stack>
      )}
    </EntryCard>
  );
}
