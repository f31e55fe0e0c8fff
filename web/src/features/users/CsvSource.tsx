import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, FileButton, Group, Stack, Textarea } from "@mantine/core";
import { IconFileDownload, IconFileUpload } from "@tabler/icons-react";
import { downloadText } from "@/ui/download";
import { CSV_COLUMNS, CSV_TEMPLATE, type Parsed } from "./drafts";

interface Props {
  text: string;
  onText: (text: string) => void;
  parsed: Parsed;
}

/** A CSV of users, selected or pasted. */
export function CsvSource({ text, onText, parsed }: Props) {
  const { t } = useLingui();
  const columns = CSV_COLUMNS.join(", ");
  const unknown = parsed.unknown.join(", ");
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <FileButton
          accept=".csv,text/csv,text/plain"
          onChange={(file) => void file?.text().then(onText)}
          inputProps={{ "aria-label": t`CSV file` }}
        >
          {(props) => (
            <Button {...props} size="xs" leftSection={<IconFileUpload size={15} aria-hidden />}>
              <Trans>Select file</Trans>
            </Button>
          )}
        </FileButton>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconFileDownload size={15} aria-hidden />}
          onClick={() => downloadText("users.csv", CSV_TEMPLATE, "text/csv;charset=utf-8")}
        >
          <Trans>Template</Trans>
        </Button>
      </Group>
      <Textarea
        label={t`CSV with a header row`}
        description={t`Columns: ${columns}. Required: email, and a name in the file or below.`}
        autosize
        minRows={4}
        maxRows={10}
        value={text}
        onChange={(event) => onText(event.currentTarget.value)}
        placeholder={"email,name\nada@example.org,Ada Lovelace"}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        spellCheck={false}
      />
      {text.trim() !== "" && parsed.noEmail && (
        <Alert color="red" variant="light" p="xs" role="alert">
          <Trans>The first row must contain the column names, including email.</Trans>
        </Alert>
      )}
      {parsed.unknown.length > 0 && (
        <Alert color="brass" variant="light" p="xs">
          <Trans>Unknown columns are ignored: {unknown}</Trans>
        </Alert>
      )}
    </Stack>
  );
}
