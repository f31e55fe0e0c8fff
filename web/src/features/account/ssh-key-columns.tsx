import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { Group, Text } from "@mantine/core";
import type { SshKey } from "@/api/types";
import { CopyButton } from "@/ui/CopyButton";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";

function Fingerprint({ sshKey }: { sshKey: SshKey }) {
  const { t } = useLingui();
  return (
    <Group gap={4} wrap="nowrap">
      <Text size="xs" ff="monospace" style={{ overflowWrap: "anywhere" }}>
        {sshKey.fingerprint}
      </Text>
      <CopyButton text={sshKey.public_key} label={t`Copy public key`} />
    </Group>
  );
}

export const SSH_KEY_COLUMNS: readonly Column<SshKey>[] = [
  {
    key: "name",
    title: msg`Name`,
    width: "14rem",
    shown: "always",
    sortable: true,
    value: (key) => key.name,
  },
  {
    key: "type",
    title: msg`Type`,
    width: "8rem",
    sortable: true,
    value: (key) => (key.public_key.split(" ")[0] ?? "").replace(/^ssh-/, ""),
  },
  {
    key: "fingerprint",
    title: msg`Fingerprint`,
    value: (key) => key.fingerprint,
    cell: (key) => <Fingerprint sshKey={key} />,
  },
  {
    key: "created",
    title: msg`Added`,
    width: "12.5rem",
    sortable: true,
    value: (key) => Date.parse(key.created_at),
    cell: (key) => <Instant at={key.created_at} />,
  },
];
