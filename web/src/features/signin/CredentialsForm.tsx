import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Button, Divider, Group, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconFingerprint, IconLogin2 } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { takesPasskeys } from "@/api/passkey";
import { signInOptionsQuery, useLogin, usePasskeyLogin } from "@/queries/auth";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { FailedElsewhere } from "./FailedElsewhere";
import { SignInProblem } from "./SignInProblem";

interface Props {
  /** The URL to open afterwards. */
  next: string | undefined;
  /** The error code of a provider sign-in, and the provider's name. */
  failed: string | undefined;
  provider: string | undefined;
  /** The sign-in has succeeded and the page is loading. */
  busy: boolean;
  /** Receives the accepted password, for a step that needs it again. */
  onPassword: (password: string) => void;
}

/** E-mail and password, and the other sign-in methods of this installation. */
export function CredentialsForm({ next, failed, provider, busy, onPassword }: Props) {
  const { t } = useLingui();
  const greeting = useQuery(signInOptionsQuery);
  const login = useLogin();
  const passkey = usePasskeyLogin();
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { email: "", password: "" },
    validate: {
      email: (value) => (value.trim() === "" ? t`Enter your e-mail address.` : null),
      password: (value) => (value === "" ? t`Enter your password.` : null),
    },
  });
  const submit = form.onSubmit(
    ({ email, password }) => {
      passkey.reset();
      login.mutate(
        { email: email.trim(), password },
        {
          onSuccess: () => onPassword(password),
          onError: () => document.getElementById("password")?.focus(),
        },
      );
    },
    (errors) => form.getInputNode(Object.keys(errors)[0] ?? "")?.focus(),
  );
  const offered = (greeting.data?.providers ?? []).filter(({ start }) => start !== null);
  const byPasskey = greeting.data?.passkeys === true && takesPasskeys();
  const problem = login.error ?? passkey.error;

  return (
    <Stack>
      {failed && !problem && <FailedElsewhere code={failed} provider={provider} />}
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label={t`E-mail`}
            type="email"
            autoComplete="username"
            size="md"
            autoFocus
            key={form.key("email")}
            {...form.getInputProps("email")}
          />
          <PasswordInput
            id="password"
            label={t`Password`}
            autoComplete="current-password"
            size="md"
            visibilityToggleButtonProps={{ "aria-label": t`Show the password`, tabIndex: 0 }}
            key={form.key("password")}
            {...form.getInputProps("password")}
          />
          {problem && <SignInProblem problem={problem} />}
          {!problem && greeting.error && (
            <ProblemAlert problem={greeting.error} onRetry={() => void greeting.refetch()} />
          )}
          <Button type="submit" size="md" loading={login.isPending || busy} fullWidth>
            <Trans>Sign in</Trans>
          </Button>
        </Stack>
      </form>
      {(byPasskey || offered.length > 0) && (
        <>
          <Divider label={t`or`} labelPosition="center" />
          {byPasskey && (
            <Button
              variant="default"
              size="md"
              leftSection={<IconFingerprint size={18} aria-hidden />}
              loading={passkey.isPending}
              onClick={() => {
                login.reset();
                passkey.mutate();
              }}
            >
              <Trans>Sign in with a passkey</Trans>
            </Button>
          )}
          {offered.map(({ name, label, start }) => (
            <Button
              key={name}
              component="a"
              href={`${start}?return_to=${encodeURIComponent(next ?? "/")}`}
              variant="default"
              size="md"
              leftSection={<IconLogin2 size={18} aria-hidden />}
            >
              <Trans>Sign in with {label || name}</Trans>
            </Button>
          ))}
        </>
      )}
      {(greeting.data?.forgot_password || greeting.data?.sign_up.open) && (
        <Group justify="space-between">
          {greeting.data.forgot_password && (
            <Anchor component={Link} to="/forgot-password" size="sm">
              <Trans>Forgot your password?</Trans>
            </Anchor>
          )}
          {greeting.data.sign_up.open && (
            <Anchor component={Link} to="/sign-up" size="sm">
              <Trans>Create account</Trans>
            </Anchor>
          )}
        </Group>
      )}
    </Stack>
  );
}
