import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Anchor, Button, Stack, Text } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { signInOptionsQuery, useResetPassword } from "@/queries/auth";
import { useProblemForm } from "@/ui/form/use-problem-form";
import { EntryCard } from "./EntryCard";
import { linkToken } from "./link-token";
import { NewPasswordInput } from "./NewPasswordInput";
import { SignInProblem } from "./SignInProblem";

const NOBODY: readonly string[] = [];

/** Sets a new password with a one-time link. */
export function ResetPasswordPage() {
  const { t } = useLingui();
  const hash = useLocation({ select: (here) => here.hash });
  const token = linkToken(hash);
  const { data: greeting } = useQuery(signInOptionsQuery);
  const reset = useResetPassword();
  const form = useProblemForm(
    {
      initialValues: { password: "" },
      validate: { password: (value) => (value === "" ? t`Enter a new password.` : null) },
    },
    reset.error,
  );
  const spent = token === null || reset.error?.code === "auth.link_spent";
  if (reset.isSuccess) {
    return (
      <EntryCard title={t`Password changed`}>
        <Alert color="lamp" variant="light" icon={<IconCheck size={18} aria-hidden />} role="status">
          <Trans>You are signed out of all browsers. Sign in with the new password.</Trans>
        </Alert>
        <Button component={Link} to="/signin" size="md">
          <Trans>Sign in</Trans>
        </Button>
      </EntryCard>
    );
  }
  return (
    <EntryCard title={t`Set a new password`} back>
      {spent ? (
        <Stack>
          <Alert color="red" variant="light" role="alert" title={t`This link does not work`}>
            <Text size="sm">
              <Trans>The link is expired, already used, or incomplete.</Trans>
            </Text>
          </Alert>
          {greeting?.forgot_password ? (
            <Anchor component={Link} to="/forgot-password" size="sm">
              <Trans>Send a new link</Trans>
            </Anchor>
          ) : (
            <Text size="sm">
              <Trans>Ask an administrator for another.</Trans>
            </Text>
          )}
        </Stack>
      ) : (
        <form onSubmit={form.onSubmit(({ password }) => reset.mutate({ token, password }))} noValidate>
          <Stack>
            <NewPasswordInput
              label={t`New password`}
              personal={NOBODY}
              size="md"
              autoFocus
              {...form.getInputProps("password")}
            />
            {reset.error && <SignInProblem problem={reset.error} />}
            <Button type="submit" size="md" loading={reset.isPending} fullWidth>
              <Trans>Set password</Trans>
            </Button>
          </Stack>
        </form>
      )}
    </EntryCard>
  );
}
