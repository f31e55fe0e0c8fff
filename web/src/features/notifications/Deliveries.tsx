import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Skeleton, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { WebhookDelivery } from "@/api/types";
import { useRedeliver, webhookDeliveriesQuery } from "@/queries/notifications";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { StateBadge } from "@/ui/StateBadge";
import { DELIVERY_STATES } from "./words";

const LOOKS = { pending: "waiting", delivered: "ok", failed: "failed" } as const;

/** The latest deliveries of a webhook. */
export function Deliveries({ webhook }: { webhook: string }) {
  const { t } = useLingui();
  const deliveries = useQuery(webhookDeliveriesQuery(webhook));
  if (deliveries.isPending) return <Skeleton height={60} aria-busy />;
  if (deliveries.error)
    return <ProblemAlert problem={deliveries.error} onRetry={() => void deliveries.refetch()} />;
  if (deliveries.data.length === 0) {
    return (
      <Text size="sm">
        <Trans>Nothing was delivered in the last 30 days.</Trans>
      </Text>
    );
  }
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table aria-label={t`Deliveries`} fz="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t`Message`}</Table.Th>
            <Table.Th>{t`State`}</Table.Th>
            <Table.Th>{t`Attempts`}</Table.Th>
            <Table.Th>{t`Response`}</Table.Th>
            <Table.Th>{t`Created`}</Table.Th>
            <Table.Th />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {deliveries.data.map((one) => (
            <DeliveryRow key={one.id} webhook={webhook} delivery={one} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function DeliveryRow({ webhook, delivery }: { webhook: string; delivery: WebhookDelivery }) {
  const { i18n } = useLingui();
  const redeliver = useRedeliver();
  const { id, type, state, attempts, status_code: code, error, created_at, next_at } = delivery;
  return (
    <Table.Tr>
      <Table.Td>{type}</Table.Td>
      <Table.Td>
        <StateBadge look={LOOKS[state]} state={state}>
          {i18n._(DELIVERY_STATES[state])}
        </StateBadge>
      </Table.Td>
      <Table.Td>{attempts}</Table.Td>
      <Table.Td>
        {code ?? error}
        {next_at && attempts > 0 && (
          <Text size="xs" c="dimmed">
            <Trans>
              Next attempt: <Instant at={next_at} />
            </Trans>
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Instant at={created_at} />
      </Table.Td>
      <Table.Td>
        <Button
          size="compact-xs"
          variant="default"
          loading={redeliver.isPending}
          onClick={() => redeliver.mutate({ webhook, delivery: id })}
        >
          <Trans>Send again</Trans>
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}
