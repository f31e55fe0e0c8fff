import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Stack, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { signInOptionsQuery, useSignUp } from "@/queries/auth";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { EntryCard } from "./EntryCard";
import { MailSent } from "./MailSent";
import { NewPasswordInput } from "./NewPasswordInput";
import { SignInProblem } from "./SignInProblem";

/** Creates an account, if the site allows it. */
export function SignUpPage() {
  const { t } = useLingui();
  const { data: greeting } = useQuery(signInOptionsQuery);
  const signUp = useSignUp();
  const form = useProblemForm(
    {
      initialValues: { email: "", name: "", password: "" },
      validate: {
        email: (value) => (value.includes("@") ? null : t`Enter your e-mail address.`),
        name: (value) => (value.trim() === "" ? t`Enter your name.` : null),
        password: (value) => (value === "" ? t`Enter a password.` : null),
      },
    },
    signUp.error,
  );
  if (signUp.isSuccess && greeting?.sign_up.verification) {
    return (
      <EntryCard title={t`Create account`} back>
        <MailSent title={t`Check your e-mail`}>
          <Trans>
            We sent an e-mail to {signUp.variables.email}. Open the link in it to verify your address, then
            sign in.
          </Trans>
        </MailSent>
      </EntryCard>
    );
  }
  if (signUp.isSuccess) {
    return (
      <EntryCard title={t`Create account`}>
        <Alert color="lamp" variant="light" role="status">
          <Trans>Your account is ready. You can sign in now.</Trans>
        </Alert>
        <Button component={Link} to="/signin" size="md">
          <Trans>Sign in</Trans>
        </Button>
      </EntryCard>
    );
  }
  if (greeting && !greeting.sign_up.open) {
    return (
      <EntryCard title={t`Create account`} back>
        <Alert color="brass" variant="light">
          <Trans>Sign-up is disabled on this site. Ask an administrator for an account.</Trans>
        </Alert>
      </EntryCard>
    );
  }
  const domains = greeting?.sign_up.email_domains.join(", ") ?? "";
  const send = form.onSubmit(
    ({ email, name, password }) => signUp.mutate({ email: email.trim(), name: name.trim(), password }),
    focusFirst(form),
  );
  return (
    <EntryCard title={t`Create account`} back>
      <form onSubmit={send} noValidate>
        <Stack>
          <TextInput
            label={t`E-mail`}
            description={domains && t`An address at ${domains}`}
            type="email"
            autoComplete="username"
            size="md"
            maxLength={254}
            autoFocus
            {...form.getInputProps("email")}
          />
          <TextInput
            label={t`Name`}
            autoComplete="name"
            size="md"
            maxLength={64}
            {...form.getInputProps("name")}
          />
          <NewPasswordInput
            label={t`Password`}
            personal={[form.values.email, form.values.name]}
            size="md"
            {...form.getInputProps("password")}
          />
          {signUp.error && <SignInProblem problem={signUp.error} />}
          <Button type="submit" size="md" loading={signUp.isPending} fullWidth>
            <Trans>Create account</Trans>
          </Button>
        </Stack>
      </form>
    </EntryCard>
  );
}
