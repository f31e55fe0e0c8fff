import { Plural, Trans } from "@lingui/react/macro";
import { Button, Group, Paper, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { Site, SiteUpdate } from "@/api/types";
import { useUpdateSite } from "@/queries/site";
import { CommandLine } from "@/ui/CommandLine";
import { useProblemForm } from "@/ui/form/use-problem-form";
import { useUnsavedGuard } from "@/ui/form/use-unsaved-guard";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { AnnouncementSection } from "./AnnouncementSection";
import { siteCommand } from "./command";
import { changedSiteSettings, type SiteValues, siteSettingsOf } from "./defaults";
import { ImageScansSection } from "./ImageScansSection";
import { ImageUpdatesSection } from "./ImageUpdatesSection";
import { MailSection } from "./MailSection";
import { ImportsSection, NodesSection, WebhooksSection } from "./NodesSection";
import { LimitsSection, LockSection, PasswordSection, SessionsSection } from "./NumberSections";
import { SignUpSection } from "./SignUpSection";
import styles from "./SiteForm.module.css";
import { UsageSection } from "./UsageSection";

/** All settings in sections; saves only what changed. */
export function SiteForm({ site }: { site: Site }) {
  const update = useUpdateSite();
  const [password, setPassword] = useState<string | null | undefined>(undefined);
  const before = siteSettingsOf(site);
  const form = useProblemForm<SiteValues>({ initialValues: before }, update.error);
  const changed: SiteUpdate = {
    ...changedSiteSettings(before, form.values),
    ...(password === undefined ? {} : { mail_password: password }),
  };
  const count = Object.keys(changed).length;
  useUnsavedGuard({ unsaved: () => count > 0 });
  const discard = () => {
    form.setValues(before);
    form.clearErrors();
    setPassword(undefined);
    update.reset();
  };
  const save = form.onSubmit(() => update.mutate(changed, { onSuccess: () => setPassword(undefined) }));
  const given = { form };
  return (
    <form onSubmit={save} noValidate>
      <Stack gap="md">
        <PasswordSection {...given} />
        <LockSection {...given} />
        <SessionsSection {...given} />
        <SignUpSection {...given} />
        <MailSection {...given} site={site} password={password} onPassword={setPassword} />
        <LimitsSection {...given} />
        <NodesSection {...given} />
        <UsageSection {...given} />
        <WebhooksSection {...given} />
        <ImportsSection {...given} />
        <ImageUpdatesSection {...given} />
        <ImageScansSection {...given} />
        <AnnouncementSection {...given} />
      </Stack>
      {count === 0 && update.isSuccess && (
        <Text size="sm" role="status" c="var(--carrel-accent)" className={styles.bar} p="sm">
          <Trans>Saved. The settings are in effect.</Trans>
        </Text>
      )}
      {count > 0 && (
        <Paper withBorder shadow="md" p="sm" className={styles.bar}>
          <Stack gap="xs">
            {update.error && <ProblemAlert problem={update.error} />}
            <CommandLine text={siteCommand(changed)} />
            <Group justify="space-between">
              <Text size="sm" aria-live="polite">
                <Plural value={count} one="# unsaved change." other="# unsaved changes." />
              </Text>
              <Group gap="xs">
                <Button size="xs" variant="default" onClick={discard}>
                  <Trans>Discard</Trans>
                </Button>
                <Button size="xs" type="submit" loading={update.isPending}>
                  <Trans>Save</Trans>
                </Button>
              </Group>
            </Group>
          </Stack>
        </Paper>
      )}
    </form>
  );
}
