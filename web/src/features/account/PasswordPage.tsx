import { Trans, useLingui } from "@lingui/react/macro";
import { PasswordInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { NewPasswordInput } from "@/features/signin/NewPasswordInput";
import { useMe } from "@/me/use-me";
import { useChangePassword } from "@/queries/profile";
import { Form } from "@/ui/form/Form";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { Panel, Sheet } from "./Sheet";

/** Changes the password, which signs out all other browsers. */
export function PasswordPage() {
  const { t } = useLingui();
  const { user } = useMe();
  const change = useChangePassword();
  const form = useProblemForm(
    {
      initialValues: { current: "", new: "", again: "" },
      validate: {
        current: (value) => (value === "" ? t`Enter your password.` : null),
        new: (value) => (value === "" ? t`Enter a new password.` : null),
        again: (value, values) => (value === values.new ? null : t`The passwords do not match.`),
      },
    },
    change.error,
  );
  const send = form.onSubmit(
    (values) =>
      change.mutate(
        { current: values.current, new: values.new },
        {
          onSuccess: () => {
            form.reset();
            notifications.show({
              message: t`Password changed. Your other browsers are signed out.`,
            });
          },
        },
      ),
    focusFirst(form),
  );
  const show = { "aria-label": t`Show the password`, tabIndex: 0 };
  return (
    <Sheet title={t`Password`} text={t`Changing your password signs you out of all other browsers.`}>
      <Panel>
        <Form
          onSubmit={send}
          submit={<Trans>Change password</Trans>}
          busy={change.isPending}
          problem={change.error}
        >
          {/* For password managers, which store a password by user name. */}
          <input type="text" autoComplete="username" value={user.email} readOnly hidden />
          <PasswordInput
            label={t`Current password`}
            autoComplete="current-password"
            visibilityToggleButtonProps={show}
            {...form.getInputProps("current")}
          />
          <NewPasswordInput
            label={t`New password`}
            personal={[user.email, user.name]}
            {...form.getInputProps("new")}
          />
          <PasswordInput
            label={t`Repeat new password`}
            autoComplete="new-password"
            visibilityToggleButtonProps={show}
            {...form.getInputProps("again")}
          />
        </Form>
      </Panel>
    </Sheet>
  );
}
