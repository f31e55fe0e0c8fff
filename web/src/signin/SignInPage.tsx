import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { useLogin } from "@/queries/auth-login";
import { Logo } from "@/ui/Logo";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { usePageTitle } from "@/ui/use-page-title";
import { LanguageChoice } from "./LanguageChoice";
import styles from "./SignInPage.module.css";

const route = getRouteApi("/signin");

export function SignInPage() {
  const { t } = useLingui();
  const { next } = route.useSearch();
  const navigate = useNavigate();
  const router = useRouter();
  const login = useLogin();
  const client = useQueryClient();
  // Whoever signs in next must see nothing of whoever was here before.
  useEffect(() => client.clear(), [client]);
  usePageTitle(t`Sign in`);
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { email: "", password: "" },
    validate: {
      email: (value) => (value.trim() === "" ? t`Enter your e-mail address.` : null),
      password: (value) => (value === "" ? t`Enter your password.` : null),
    },
  });

  const submit = form.onSubmit(({ email, password }) => {
    login.mutate(
      { email: email.trim(), password },
      {
        onSuccess: () => (next ? router.history.push(next) : void navigate({ to: "/" })),
        onError: () => document.getElementById("password")?.focus(),
      },
    );
  });

  return (
    <div className={styles.page}>
      <main className={styles.card}>
        <Stack gap="lg">
          <Group gap="sm">
            <Logo size={36} />
            <Title order={1} size="h3">
              Carrel
            </Title>
          </Group>
          <Text size="sm" c="dimmed">
            <Trans>A desk of your own on the machines that everybody shares.</Trans>
          </Text>
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
              {login.error && <ProblemAlert problem={login.error} />}
              <Button type="submit" size="md" loading={login.isPending} fullWidth>
                <Trans>Sign in</Trans>
              </Button>
            </Stack>
          </form>
          <LanguageChoice />
        </Stack>
      </main>
    </div>
  );
}
