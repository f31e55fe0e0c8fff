import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { CommandLine } from "@/ui/CommandLine";
import { downloadText } from "@/ui/download";
import { SecretPanel } from "@/ui/form/SecretPanel";

/** Shows the private key of a generated key pair, once. */
export function PrivateKeyCard({ name, text, onDone }: { name: string; text: string; onDone: () => void }) {
  const { t } = useLingui();
  const file = `carrel-${name.replace(/[^\w.-]+/g, "_")}`;
  return (
    <SecretPanel
      title={t`Save the private key now`}
      secret={text}
      copyLabel={t`Copy private key`}
      onDone={onDone}
    >
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconDownload size={15} aria-hidden />}
          onClick={() => downloadText(file, text, "application/x-pem-file")}
        >
          <Trans>Download</Trans>
        </Button>
      </Group>
      <CommandLine text={`mv ~/Downloads/${file} ~/.ssh/ && chmod 600 ~/.ssh/${file}`} />
    </SecretPanel>
  );
}
