import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Group, Select, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { NewWebhook } from "@/api/types";
import { Panel } from "@/features/account/Sheet";
import { useMe } from "@/me/use-me";
import { type WebhookOwner, webhooksListQuery } from "@/queries/notifications";
import { CopyButton } from "@/ui/CopyButton";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { WebhookCard } from "./WebhookCard";
import { WebhookForm } from "./WebhookForm";

const OWN = "me";

/** Webhooks of the user, and of the projects and the domain that the user administers. */
export function WebhooksPanel() {
  const { t } = useLingui();
  const { user, projects } = useMe();
  const [whose, setWhose] = useState(OWN);
  const [adding, setAdding] = useState(false);
  const [made, setMade] = useState<NewWebhook>();
  const [kind, id] = whose.split(":");
  const owner: WebhookOwner = kind === OWN ? {} : { [kind as "project" | "domain"]: id };
  const webhooks = useQuery(webhooksListQuery(owner));
  const wide = user.role !== "user";
  const places = [
    { value: OWN, label: t`My sessions` },
    ...projects
      .filter(({ admin }) => admin || wide)
      .map(({ id, name }) => ({ value: `project:${id}`, label: t`Project ${name}` })),
    ...(wide ? [{ value: `domain:${user.domain.id}`, label: t`Domain ${user.domain.name}` }] : []),
  ];
  return (
    <Panel title={t`Webhooks`}>
      <Text size="sm" c="dimmed">
        <Trans>
          Signed messages to other programs, such as a chat. Failed deliveries are retried for about a day.
        </Trans>
      </Text>
      {places.length > 1 && (
        <Select
          label={t`Webhooks for`}
          allowDeselect={false}
          data={places}
          value={whose}
          onChange={(value) => value && setWhose(value)}
        />
      )}
      {made && (
        <Alert color="brass" variant="light" title={t`Copy the secret now`}>
          <Stack gap="xs" align="flex-start">
            <Text size="sm">
              <Trans>The receiver verifies signatures with it. It is shown only once.</Trans>
            </Text>
            <Group gap={4} wrap="nowrap">
              <Text ff="monospace" size="sm" style={{ overflowWrap: "anywhere" }}>
                {made.secret}
              </Text>
              <CopyButton text={made.secret} label={t`Copy secret`} />
            </Group>
            <Button size="xs" variant="default" onClick={() => setMade(undefined)}>
              <Trans>I have saved it</Trans>
            </Button>
          </Stack>
        </Alert>
      )}
      {webhooks.isPending && <Skeleton height={60} aria-busy />}
      {webhooks.error && <ProblemAlert problem={webhooks.error} onRetry={() => void webhooks.refetch()} />}
      {webhooks.data?.length === 0 && !adding && (
        <Text size="sm">
          <Trans>There are no webhooks.</Trans>
        </Text>
      )}
      {webhooks.data?.map((webhook) => (
        <WebhookCard key={webhook.id} webhook={webhook} onSecret={setMade} />
      ))}
      {adding ? (
        <WebhookForm
          owner={owner}
          onClose={() => setAdding(false)}
          onMade={(webhook) => {
            setMade(webhook);
            setAdding(false);
          }}
        />
      ) : (
        <Group>
          <Button variant="default" onClick={() => setAdding(true)}>
            <Trans>Add webhook</Trans>
          </Button>
        </Group>
      )}
    </Panel>
  );
}
