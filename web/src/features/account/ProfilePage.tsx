import { Trans, useLingui } from "@lingui/react/macro";
import { Badge, Group, Text, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { ROLES } from "@/features/users/words";
import { useMe } from "@/me/use-me";
import { useUpdateProfile } from "@/queries/profile";
import { Form } from "@/ui/form/Form";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import styles from "./SettingsPage.module.css";
import { Panel, Sheet } from "./Sheet";

/** The user's profile: the name, which the user can change, and the fields that administrators set. */
export function ProfilePage() {
  const { t, i18n } = useLingui();
  const me = useMe();
  const update = useUpdateProfile();
  const form = useProblemForm(
    {
      initialValues: { name: me.user.name },
      validate: { name: (value) => (value.trim() === "" ? t`Enter your name.` : null) },
    },
    update.error,
  );
  const save = form.onSubmit(({ name }) => {
    if (name.trim() === me.user.name) {
      notifications.show({ message: t`No changes.` });
      return;
    }
    update.mutate(
      { name: name.trim() },
      { onSuccess: () => notifications.show({ message: t`Name changed.` }) },
    );
  }, focusFirst(form));
  return (
    <Sheet title={t`Profile`}>
      <Panel>
        <Form onSubmit={save} submit={<Trans>Save</Trans>} busy={update.isPending} problem={update.error}>
          <TextInput label={t`Name`} maxLength={64} autoComplete="name" {...form.getInputProps("name")} />
        </Form>
      </Panel>
      <Panel title={t`Managed by administrators`}>
        <dl className={styles.facts}>
          <dt>{t`E-mail`}</dt>
          <dd>{me.user.email}</dd>
          <dt>{t`Role`}</dt>
          <dd>{i18n._(ROLES[me.user.role])}</dd>
          <dt>{t`Domain`}</dt>
          <dd>{me.user.domain.name}</dd>
          <dt>{t`Projects`}</dt>
          <dd>
            {me.projects.length === 0 ? (
              <Trans>none</Trans>
            ) : (
              <Group gap={6}>
                {me.projects.map(({ id, name, admin }) => (
                  <Badge key={id} variant="default" tt="none">
                    {admin ? t`${name} (administrator)` : name}
                  </Badge>
                ))}
              </Group>
            )}
          </dd>
        </dl>
        <Text size="xs" c="dimmed">
          <Trans>To change these, ask an administrator.</Trans>
        </Text>
      </Panel>
    </Sheet>
  );
}
