import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, Checkbox, Code, Group, NumberInput, Stack, Table, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ImagePruneView } from "@/api/types";
import { prunePreviewQuery, usePruneImages } from "@/queries/node-images";
import { CommandLine } from "@/ui/CommandLine";
import { commandLine } from "@/ui/command";
import { EmptyState } from "@/ui/EmptyState";
import { formatSize } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { usePageTitle } from "@/ui/use-page-title";
import { MaintenanceFrame } from "./MaintenanceFrame";
import { KEPT_FOR } from "./words";

const DEFAULT_DAYS = 30;

/** Clean-up of images on nodes, with a preview. */
export function ImageCleanUpPage() {
  const { t } = useLingui();
  const [days, setDays] = useState<number>(DEFAULT_DAYS);
  const [registered, setRegistered] = useState(false);
  const [settled] = useDebouncedValue(days, 300);
  const preview = useQuery(prunePreviewQuery(settled, registered));
  const prune = usePruneImages();
  usePageTitle(t`Clean up images`);
  return (
    <MaintenanceFrame
      title={t`Clean up images`}
      text={
        <Trans>
          Removes images from nodes that Carrel pulled and no session has used for a while. Images of others,
          and those that containers, sessions, pulls or environments need, always stay.
        </Trans>
      }
      query={preview}
    >
      {(found) => (
        <Stack gap="md">
          <Group gap="md" align="flex-end">
            <NumberInput
              label={t`Days without use`}
              min={0}
              max={3650}
              allowDecimal={false}
              w={160}
              value={days}
              onChange={(value) => setDays(typeof value === "number" ? value : DEFAULT_DAYS)}
            />
            <Checkbox
              mb={8}
              label={t`Also images that are registered under a name`}
              checked={registered}
              onChange={(event) => setRegistered(event.currentTarget.checked)}
            />
          </Group>
          <Found found={found} />
          <Group>
            <Button
              color="red"
              leftSection={<IconTrash size={16} aria-hidden />}
              loading={prune.isPending}
              disabled={found.count === 0 || settled !== days || preview.isPlaceholderData || preview.isError}
              onClick={() => prune.mutate({ older_than_days: settled, registered })}
            >
              <Plural value={found.count} one="Remove # image" other="Remove # images" />
            </Button>
          </Group>
          {prune.error && <ProblemAlert problem={prune.error} />}
          {prune.data && (
            <Text size="sm" role="status">
              <Plural value={prune.data.count} one="# image is" other="# images are" />{" "}
              <Trans>being removed in the background.</Trans>
            </Text>
          )}
          <CommandLine
            text={commandLine(
              "carrel",
              "image",
              "prune",
              "--older-than",
              `${settled}d`,
              ...(registered ? ["--registered"] : []),
            )}
          />
        </Stack>
      )}
    </MaintenanceFrame>
  );
}

function Found({ found }: { found: ImagePruneView }) {
  const { t, i18n } = useLingui();
  return (
    <>
      <Text size="sm">
        <Plural value={found.count} one="# image" other="# images" />, {formatSize(found.size_bytes)}
      </Text>
      {found.items.length === 0 ? (
        <EmptyState title={t`Nothing to remove`} />
      ) : (
        <Table.ScrollContainer minWidth={520} type="native" tabIndex={0}>
          <Table verticalSpacing="xs" aria-label={t`Images to remove`}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t`Node`}</Table.Th>
                <Table.Th>{t`Image`}</Table.Th>
                <Table.Th>{t`Size`}</Table.Th>
                <Table.Th>{t`Last used`}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {found.items.map((one) => (
                <Table.Tr key={`${one.node.id}/${one.image_id}`}>
                  <Table.Td>{one.node.name}</Table.Td>
                  <Table.Td>
                    <Code style={{ overflowWrap: "anywhere" }}>
                      {one.references.join(", ") || one.image_id}
                    </Code>
                  </Table.Td>
                  <Table.Td>{formatSize(one.size_bytes)}</Table.Td>
                  <Table.Td>
                    <Instant at={one.used_at} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <Stack gap={2}>
        {found.kept.map((kept) => (
          <Text key={kept.cause} size="xs" c="dimmed">
            {i18n._(KEPT_FOR[kept.cause])}: {kept.count} ({formatSize(kept.size_bytes)})
          </Text>
        ))}
      </Stack>
    </>
  );
}
