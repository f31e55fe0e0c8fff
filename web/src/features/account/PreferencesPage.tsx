import { Trans, useLingui } from "@lingui/react/macro";
import { SegmentedControl, Select, Stack, Text, TextInput, useMantineColorScheme } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { LANGUAGES, type Language } from "@/i18n";
import { usePreferences } from "@/me/preferences";
import { useMe } from "@/me/use-me";
import { useUpdateProfile } from "@/queries/profile";
import { Form } from "@/ui/form/Form";
import { useProblemForm } from "@/ui/form/use-problem-form";
import { Panel, Sheet } from "./Sheet";

const AS_BROWSER = "browser";

/** How the page looks and what a terminal starts, on every device of the person. */
export function PreferencesPage() {
  const { t } = useLingui();
  const { colorScheme } = useMantineColorScheme();
  const { preferences } = useMe().user;
  const { setLanguage, setTheme } = usePreferences();
  return (
    <Sheet title={t`Preferences`} text={t`Kept on the server, so that every device of yours has them.`}>
      <Panel title={t`The page`}>
        <Select
          label={t`Language`}
          allowDeselect={false}
          data={[
            { value: AS_BROWSER, label: t`As each browser has it` },
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
            aria-labelledby="theme-label"
            data={[
              { value: "auto", label: t`Like the system` },
              { value: "light", label: t`Light` },
              { value: "dark", label: t`Dark` },
            ]}
            value={preferences?.theme ?? colorScheme}
            onChange={(value) => setTheme(value as "auto" | "light" | "dark")}
          />
        </Stack>
      </Panel>
      <Panel title={t`Terminals`}>
        <ShellForm shell={preferences?.shell ?? ""} />
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
      { onSuccess: () => notifications.show({ message: t`Your preferences are saved.` }) },
    ),
  );
  return (
    <Form onSubmit={save} submit={<Trans>Save</Trans>} busy={update.isPending} problem={update.error}>
      <TextInput
        label={t`Shell`}
        description={t`Such as zsh or /bin/zsh. Empty, or where a session has it not: the image's own.`}
        placeholder="bash"
        maxLength={65}
        spellCheck={false}
        autoCapitalize="off"
        {...form.getInputProps("shell")}
      />
    </Form>
  );
}
