import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { modals } from "@mantine/modals";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useCreateKeypair } from "@/queries/keypairs-create";
import { keypairsListQuery } from "@/queries/keypairs-list";
import { useRemoveKeypair } from "@/queries/keypairs-remove";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { usePageTitle } from "@/ui/use-page-title";
import { KeypairTable } from "./KeypairTable";
import { NewKeypairCard } from "./NewKeypairCard";

/** The keypairs of the person, for the command line and for scripts. */
export function KeypairsPage() {
  const { t } = useLingui();
  const keypairs = useQuery(keypairsListQuery);
  const create = useCreateKeypair();
  usePageTitle(t`Keypairs`);
  const remove = useRemoveKeypair();
  const askRemove = (accessKey: string) =>
    modals.openConfirmModal({
      title: t`Delete a keypair`,
      children: (
        <Text size="sm">
          <Trans>
            Every script and command line that uses <b>{accessKey}</b> is refused from now on. This cannot be
            undone.
          </Trans>
        </Text>
      ),
      closeButtonProps: { "aria-label": t`Close` },
      labels: { confirm: t`Delete`, cancel: t`Keep` },
      confirmProps: { color: "red" },
      onConfirm: () => remove.mutate(accessKey),
    });
  return (
    <Stack maw={860} mx="auto" p="lg" gap="md">
      <Group justify="space-between">
        <Title order={1} size="h3">
          <Trans>Keypairs</Trans>
        </Title>
        <Button
          leftSection={<IconPlus size={16} aria-hidden />}
          loading={create.isPending}
          onClick={() => create.mutate()}
        >
          <Trans>New keypair</Trans>
        </Button>
      </Group>
      <Text size="sm" c="dimmed">
        <Trans>
          A keypair lets the command line, the SDK and scripts act as you. Signing in with{" "}
          <code>carrel login</code> makes one by itself.
        </Trans>
      </Text>
      {create.data && <NewKeypairCard keypair={create.data} onDone={() => create.reset()} />}
      {(create.error ?? remove.error) && <ProblemAlert problem={create.error ?? remove.error} />}
      {keypairs.isError ? (
        <ProblemAlert problem={keypairs.error} onRetry={() => void keypairs.refetch()} />
      ) : (
        <KeypairTable keypairs={keypairs.data} onRemove={askRemove} />
      )}
    </Stack>
  );
}
