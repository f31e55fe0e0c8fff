import { Trans } from "@lingui/react/macro";
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { CopyButton } from "@/ui/CopyButton";

interface Props {
  title: string;
  secret: string;
  /** Label of the copy button. */
  copyLabel: string;
  /** Usage instructions. */
  children?: ReactNode;
  onDone: () => void;
}

/** A secret, shown once, until the user confirms that it is saved. */
export function SecretPanel({ title, secret, copyLabel, children, onDone }: Props) {
  return (
    <Alert color="brass" variant="light" icon={<IconKey size={18} aria-hidden />} title={title}>
      <Stack gap="xs">
        <Text size="sm">
          <Trans>It is shown only once. The server stores only its hash.</Trans>
        </Text>
        <Group gap={4} wrap="nowrap">
          <Text ff="monospace" size="sm" style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>
            {secret}
          </Text>
          <CopyButton text={secret} label={copyLabel} />
        </Group>
        {children}
        <Group>
          <Button size="xs" variant="default" onClick={onDone}>
            <Trans>I have saved it</Trans>
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
