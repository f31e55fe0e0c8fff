import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Badge, Group, Skeleton, Table, Text, Tooltip, VisuallyHidden } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import type { Keypair } from "@/api/types";
import { CopyButton } from "@/ui/CopyButton";
import { EmptyState } from "@/ui/EmptyState";
import { formatInstant } from "@/ui/format";

interface Props {
  keypairs: Keypair[] | undefined;
  onRemove: (accessKey: string) => void;
}

export function KeypairTable({ keypairs, onRemove }: Props) {
  const { t, i18n } = useLingui();
  if (!keypairs) return <Skeleton height={120} />;
  if (keypairs.length === 0)
    return <EmptyState title={t`You have no keypair`} text={t`Make one to use scripts.`} />;
  return (
    <Table.ScrollContainer minWidth={520}>
      <Table bg="var(--carrel-surface)" withTableBorder verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>
              <Trans>Access key</Trans>
            </Table.Th>
            <Table.Th>
              <Trans>Created</Trans>
            </Table.Th>
            <Table.Th>
              <Trans>Last used</Trans>
            </Table.Th>
            <Table.Th>
              <VisuallyHidden>
                <Trans>Actions</Trans>
              </VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keypairs.map((keypair) => (
            <Table.Tr key={keypair.access_key}>
              <Table.Td>
                <Group gap={4} wrap="nowrap">
                  <Text ff="monospace" size="sm">
                    {keypair.access_key}
                  </Text>
                  <CopyButton text={keypair.access_key} label={t`Copy the access key`} />
                  {!keypair.active && (
                    <Badge size="xs" color="gray">
                      <Trans>inactive</Trans>
                    </Badge>
                  )}
                </Group>
              </Table.Td>
              <Table.Td>{formatInstant(keypair.created_at, i18n.locale)}</Table.Td>
              <Table.Td>
                {keypair.last_used_at ? (
                  formatInstant(keypair.last_used_at, i18n.locale)
                ) : (
                  <Trans>never</Trans>
                )}
              </Table.Td>
              <Table.Td ta="end">
                <Tooltip label={t`Delete`}>
                  <ActionIcon
                    variant="subtle"
                    color="red"
                    aria-label={t`Delete ${keypair.access_key}`}
                    onClick={() => onRemove(keypair.access_key)}
                  >
                    <IconTrash size={16} aria-hidden />
                  </ActionIcon>
                </Tooltip>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
