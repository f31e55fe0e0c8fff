import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Checkbox, Group, Stack, Text } from "@mantine/core";
import { IconCopy, IconDownload, IconKey } from "@tabler/icons-react";
import { useState } from "react";
import { copyText } from "@/ui/copy";
import { downloadText } from "@/ui/download";
import styles from "./Entry.module.css";

interface Props {
  codes: string[];
  onDone: () => void;
}

/** Recovery codes, shown once, until the user confirms that they are saved. */
export function RecoveryCodeList({ codes, onDone }: Props) {
  const { t } = useLingui();
  const [kept, setKept] = useState(false);
  const [copied, setCopied] = useState(false);
  const text = `${codes.join("\n")}\n`;
  return (
    <Alert
      color="brass"
      variant="light"
      icon={<IconKey size={18} aria-hidden />}
      title={t`Recovery codes, shown once`}
    >
      <Stack gap="sm">
        <Text size="sm">
          <Trans>
            Each code signs you in once if you lose your device. Store the codes in a safe place, not on that
            device.
          </Trans>
        </Text>
        <ul className={styles.codes} aria-label={t`Recovery codes`}>
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            leftSection={<IconCopy size={15} aria-hidden />}
            onClick={() => void copyText(text).then(() => setCopied(true))}
          >
            {copied ? <Trans>Copied</Trans> : <Trans>Copy codes</Trans>}
          </Button>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconDownload size={15} aria-hidden />}
            onClick={() => downloadText("carrel-recovery-codes.txt", text, "text/plain")}
          >
            <Trans>Download</Trans>
          </Button>
        </Group>
        <Checkbox
          label={t`I have saved the codes`}
          checked={kept}
          onChange={(event) => setKept(event.currentTarget.checked)}
        />
        <Group>
          <Button size="sm" onClick={onDone} disabled={!kept}>
            <Trans>Continue</Trans>
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
