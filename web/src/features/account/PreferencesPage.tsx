import { Trans, useLingui } from "@lingui/react/macro";
import { SegmentedControl, Select, Stack, Text, TextInput, useMantineColorScheme } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { LANGUAGES, type Language } from "@/i18n";
import { usePreferences } from "@/me/preferences";
import { useMe } from "@/me/use-me";
import { useUpdateProfile } from "@/queries/profile";
import { Form } from "@/ui/form/Form";
import { useProblemForm } from "@/ui/form/use-problem-form";
import { SessionDefaults } from "./SessionDefaults";
import { Panel, Sheet } from "./Sheet";

const AS_BROWSER = "browser";

/** Appearance and terminal settings, on every device of the user. */
export function PreferencesPage() {
  const { t } = useLingui();
  const { colorScheme } = useMantineColorScheme();
  const { preferences, role } = useMe().user;
  const { setLanguage, setTheme, setNotifications } = usePreferences();
  return (
    <Sheet
      title={t`Preferences`}
      text={t`Preferences are saved on the server and apply on all your devices.`}
    >
      <Panel title={t`Appearance`}>
        <Select
          data-path="language"
          label={t`Language`}
          allowDeselect={false}
          data={[
            { value: AS_BROWSER, label: t`Browser default` },
            ...Object.entries(LANGUAGES).map(([value, label]) => ({ value, label })),
          ]}
          value={preferences?.language ?? AS_BROWSER}
          onChange={(value) => setLanguage(value === AS_BROWSER ? null : (value as Language))}
        />
        <Stack gap={4}>
          <Text size="sm" fw={500} id="theme-label">
            <Trans>Theme</Trans>
          </Text>
          <SegmentedControl
            data-path="theme"
            aria-labelledby="theme-label"
            data={[
              { value: "auto", label: t`System default` },
              { value: "light", label: t`Light` },
              { value: "dark", label: t`Dark` },
            ]}
            value={preferences?.theme ?? colorScheme}
            onChange={(value) => setTheme(value as "auto" | "light" | "dark")}
          />
        </Stack>
      </Panel>
      {role !== "user" && (
        <Panel title={t`Notifications`}>
          <Select
            data-path="notifications"
            label={t`Notify me about`}
            allowDeselect={false}
            data={[
              { value: "own", label: t`My sessions` },
              { value: "all", label: t`All sessions that I administer` },
            ]}
            value={preferences?.notifications ?? "own"}
            onChange={(value) => value && setNotifications(value as "own" | "all")}
          />
        </Panel>
      )}
      <Panel title={t`Terminals`}>
        <ShellForm shell={preferences?.shell ?? ""} />
      </Panel>
      <Panel title={t`Sessions`}>
        <SessionDefaults timezone={preferences?.timezone ?? ""} locale={preferences?.locale ?? ""} />
      </Panel>
    </Sheet>
  );
}

function ShellForm({ shell }: { shell: string }) {
  const { t } = useLingui();
  const update = useUpdateProfile();
  const form = useProblemForm({ initialValues: { shell } }, update.error);
  const save = form.onSubmit((values) =>
    update.mutate(
      { preferences: { shell: values.shell.trim() || null } },
      { onSuccess: () => notifications.show({ message: t`Preferences saved.` }) },
    ),
  );
  return (
    <Form onSubmit={save} submit={<Trans>Save</Trans>} busy={update.isPending} problem={update.error}>
      <TextInput
        label={t`Shell`}
        description={t`For example zsh or /bin/zsh. If it is empty or missing in the session, the image's default shell is used.`}
        placeholder="bash"
        maxLength={65}
        spellCheck={false}
        autoCapitalize="off"
        {...form.getInputProps("shell")}
      />
    </Form>
  );
}
