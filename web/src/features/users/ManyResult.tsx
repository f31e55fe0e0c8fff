import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { IconFileDownload, IconKey } from "@tabler/icons-react";
import { useState } from "react";
import type { UserMade } from "@/api/types";
import { downloadText } from "@/ui/download";
import { type CsvFields, toCsv } from "@/ui/table/csv";
import { DraftTable } from "./DraftTable";
import type { Outcome } from "./drafts";

const SECRETS: CsvFields<UserMade> = [
  ["email", (one) => one.email],
  ["password", (one) => one.password],
  ["link", (one) => one.link?.url],
  ["link_expires_at", (one) => one.link?.expires_at],
];

/** The result for each user, with the passwords, shown once. */
export function ManyResult({ outcome, onDone }: { outcome: Outcome; onDone: () => void }) {
  const { t } = useLingui();
  const [saved, setSaved] = useState(false);
  const made = outcome.made.filter(({ status }) => status === "created");
  const failed = outcome.made.filter(({ status }) => status === "failed");
  const secrets = made.filter(({ password, link }) => password || link);
  const save = () => {
    downloadText("passwords.csv", toCsv(secrets, SECRETS), "text/csv;charset=utf-8");
    setSaved(true);
  };
  return (
    <Stack>
      <Text fw={600} role="status">
        <Plural value={made.length} one="# user created." other="# users created." />{" "}
        {failed.length > 0 && (
          <Plural
            value={failed.length}
            one="# user could not be created."
            other="# users could not be created."
          />
        )}
      </Text>
      {secrets.length > 0 && (
        <Alert
          color="brass"
          variant="light"
          icon={<IconKey size={18} aria-hidden />}
          title={t`Save the passwords now`}
        >
          <Stack gap="xs" align="flex-start">
            <Text size="sm">
              <Trans>
                Passwords and links are shown only once. If you lose them, create a one-time link for each
                user.
              </Trans>
            </Text>
            <Button size="xs" leftSection={<IconFileDownload size={15} aria-hidden />} onClick={save}>
              <Trans>Save as CSV</Trans>
            </Button>
          </Stack>
        </Alert>
      )}
      <DraftTable rows={outcome.rows} checked={outcome.made} />
      <Group justify="flex-end">
        <Button variant={secrets.length > 0 && !saved ? "default" : "filled"} onClick={onDone}>
          <Trans>Done</Trans>
        </Button>
      </Group>
    </Stack>
  );
}
