import { Trans, useLingui } from "@lingui/react/macro";
import { Button, PasswordInput, Stack } from "@mantine/core";
import type { Me } from "@/api/types";
import { useChangePassword } from "@/queries/profile";
import { useProblemForm } from "@/ui/form/use-problem-form";
import { NewPasswordInput } from "./NewPasswordInput";
import { SignInProblem } from "./SignInProblem";
import { useStartOver } from "./use-start-over";

interface Props {
  user: Me["user"] | undefined;
  /** The password typed a moment ago; absent after a reload. */
  current: string | undefined;
}

/** Requires a new password before anything else. */
export function ForcedPasswordStep({ user, current }: Props) {
  const { t } = useLingui();
  const change = useChangePassword();
  const startOver = useStartOver();
  const form = useProblemForm(
    {
      initialValues: { current: current ?? "", new: "" },
      validate: {
        current: (value) => (value === "" ? t`Enter your password.` : null),
        new: (value) => (value === "" ? t`Enter a new password.` : null),
      },
    },
    change.error,
  );
  return (
    <form onSubmit={form.onSubmit((values) => change.mutate(values))} noValidate>
      <Stack>
        {current === undefined && (
          <PasswordInput
            label={t`Current password`}
            autoComplete="current-password"
            size="md"
            visibilityToggleButtonProps={{ "aria-label": t`Show the password`, tabIndex: 0 }}
            {...form.getInputProps("current")}
          />
        )}
        <NewPasswordInput
          label={t`New password`}
          personal={user ? [user.email, user.name] : []}
          size="md"
          autoFocus={current !== undefined}
          {...form.getInputProps("new")}
        />
        {change.error && <SignInProblem problem={change.error} />}
        <Button type="submit" size="md" loading={change.isPending} fullWidth>
          <Trans>Change password</Trans>
        </Button>
        <Button variant="subtle" color="gray" size="compact-sm" onClick={startOver}>
          <Trans>Use another account</Trans>
        </Button>
      </Stack>
    </form>
  );
}
