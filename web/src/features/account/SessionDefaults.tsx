import { Trans, useLingui } from "@lingui/react/macro";
import { TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useUpdateProfile } from "@/queries/profile";
import { Form } from "@/ui/form/Form";
import { useProblemForm } from "@/ui/form/use-problem-form";

/** The time zone and locale of new sessions. */
export function SessionDefaults(props: { timezone: string; locale: string }) {
  const { t } = useLingui();
  const update = useUpdateProfile();
  const form = useProblemForm({ initialValues: props }, update.error);
  const save = form.onSubmit(({ timezone, locale }) =>
    update.mutate(
      { preferences: { timezone: timezone.trim() || null, locale: locale.trim() || null } },
      { onSuccess: () => notifications.show({ message: t`Preferences saved.` }) },
    ),
  );
  return (
    <Form onSubmit={save} submit={<Trans>Save</Trans>} busy={update.isPending} problem={update.error}>
      <TextInput
        label={t`Time zone`}
        description={t`Of new sessions that request none, such as Asia/Seoul.`}
        placeholder={Intl.DateTimeFormat().resolvedOptions().timeZone}
        maxLength={64}
        spellCheck={false}
        {...form.getInputProps("timezone")}
      />
      <TextInput
        label={t`Locale`}
        description={t`Of new sessions that request none, such as ko_KR.UTF-8. The image must have it.`}
        placeholder="C.UTF-8"
        maxLength={64}
        spellCheck={false}
        {...form.getInputProps("locale")}
      />
    </Form>
  );
}
