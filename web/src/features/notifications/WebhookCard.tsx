import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Stack, Switch, Text } from "@mantine/core";
import { useState } from "react";
import type { NewWebhook, Webhook } from "@/api/types";
import { useRemoveWebhook, useTestWebhook, useUpdateWebhook } from "@/queries/notifications";
import styles from "@/ui/Card.module.css";
import { commandLine } from "@/ui/command";
import { askToConfirm } from "@/ui/form/ConfirmDialog";
import { formatInstant } from "@/ui/format";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { Deliveries } from "./Deliveries";
import { RotateSecret } from "./RotateSecret";
import { NOTIFICATION_KINDS } from "./words";

/** One webhook with its actions and, on request, its deliveries. */
export function WebhookCard({
  webhook,
  onSecret,
}: {
  webhook: Webhook;
  onSecret: (made: NewWebhook) => void;
}) {
  const { t, i18n } = useLingui();
  const [opened, setOpened] = useState(false);
  const update = useUpdateWebhook();
  const test = useTestWebhook();
  const { mutateAsync: remove } = useRemoveWebhook();
  const { id, name, url, kinds, active, failed, old_secret_until: until } = webhook;
  const askRemove = () =>
    askToConfirm({
      title: t`Remove webhook`,
      closeLabel: t`Close`,
      confirm: t`Remove`,
      command: commandLine("carrel", "webhook", "rm", id),
      onConfirm: () => remove(id),
      children: (
        <Trans>
          Removes <b>{name}</b> with its deliveries.
        </Trans>
      ),
    });
  return (
    <section className={styles.card} aria-label={name}>
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap">
          <Text size="sm" fw={600} truncate>
            {name}
          </Text>
          <Switch
            size="sm"
            label={t`Active`}
            checked={active}
            onChange={({ currentTarget }) => update.mutate({ webhook: id, active: currentTarget.checked })}
          />
        </Group>
        <Text size="xs" ff="monospace" style={{ overflowWrap: "anywhere" }}>
          {url}
        </Text>
        <Text size="xs" c="dimmed">
          {kinds.map((kind) => i18n._(NOTIFICATION_KINDS[kind])).join(" · ")}
        </Text>
        {until && (
          <Text size="xs" c="dimmed">
            <Trans>The secret before is valid until {formatInstant(until, i18n.locale)}.</Trans>
          </Text>
        )}
        {failed > 0 && (
          <Text size="xs" c="red">
            <Trans>{failed} deliveries were given up.</Trans>
          </Text>
        )}
        <Group gap="xs">
          <Button
            size="compact-sm"
            variant="default"
            disabled={!active}
            loading={test.isPending}
            onClick={() => test.mutate(id, { onSuccess: () => setOpened(true) })}
          >
            <Trans>Send test</Trans>
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            aria-expanded={opened}
            onClick={() => setOpened(!opened)}
          >
            <Trans>Deliveries</Trans>
          </Button>
          <RotateSecret webhook={id} onRotated={onSecret} />
          <Button size="compact-sm" variant="subtle" color="red" onClick={askRemove}>
            <Trans>Remove</Trans>
          </Button>
        </Group>
        {(update.error || test.error) && <ProblemAlert problem={update.error ?? test.error} />}
        {opened && <Deliveries webhook={id} />}
      </Stack>
    </section>
  );
}
