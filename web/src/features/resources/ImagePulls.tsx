import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Code, Group, Progress, Stack, Text, TextInput, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { ImagePull } from "@/api/types";
import { imagePullsQuery, useCancelPull, usePullImage } from "@/queries/node-images";
import { CommandLine } from "@/ui/CommandLine";
import { commandLine } from "@/ui/command";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { StateBadge } from "@/ui/StateBadge";
import { PULL_STATES } from "./pull-words";

/** Pulls an image to a node, or to a resource group, ahead of sessions; and the latest pulls, which are live. */
export function ImagePulls({ node }: { node: string }) {
  const { t } = useLingui();
  const [reference, setReference] = useState("");
  const pull = usePullImage();
  const latest = useQuery(imagePullsQuery);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    pull.mutate({ reference: reference.trim(), nodes: [node] }, { onSuccess: () => setReference("") });
  };
  return (
    <Stack gap="xs" component="section">
      <Title order={2} size="h5">
        <Trans>Pull ahead</Trans>
      </Title>
      <form onSubmit={submit}>
        <Group gap="xs" align="flex-end">
          <TextInput
            flex={1}
            miw={180}
            label={t`Image to pull to this node`}
            placeholder="python:3.12"
            maxLength={512}
            value={reference}
            onChange={(event) => setReference(event.currentTarget.value)}
          />
          <Button type="submit" variant="default" loading={pull.isPending} disabled={!reference.trim()}>
            <Trans>Pull</Trans>
          </Button>
        </Group>
      </form>
      {pull.error && <ProblemAlert problem={pull.error} />}
      {latest.error && <ProblemAlert problem={latest.error} onRetry={() => void latest.refetch()} />}
      <PullList pulls={latest.data ?? []} />
      <CommandLine
        text={commandLine("carrel", "image", "pull", reference.trim() || "IMAGE", "--node", node)}
      />
    </Stack>
  );
}

function PullList({ pulls }: { pulls: ImagePull[] }) {
  return (
    <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: "none" }} aria-live="polite">
      {pulls.map((pull) => (
        <li key={pull.id}>
          <PullState pull={pull} />
        </li>
      ))}
    </Stack>
  );
}

function PullState({ pull }: { pull: ImagePull }) {
  const { t, i18n } = useLingui();
  const cancel = useCancelPull();
  const { title, look } = PULL_STATES[pull.state];
  const open = pull.ended_at === null;
  const { done, total } = pull;
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <StateBadge look={look} state={pull.state}>
          {i18n._(title)}
        </StateBadge>
        <Code style={{ overflowWrap: "anywhere" }}>{pull.reference}</Code>
        <Text size="xs" c="dimmed">
          {t`${done} of ${total} nodes`} · <Instant at={pull.ended_at ?? pull.created_at} />
        </Text>
        {open && (
          <Button
            size="compact-xs"
            variant="default"
            loading={cancel.isPending}
            disabled={pull.cancel}
            onClick={() => cancel.mutate(pull.id)}
          >
            <Trans>Cancel</Trans>
          </Button>
        )}
      </Group>
      {open && <Progress value={100 * pull.progress} aria-label={t`Progress of the pull`} />}
      {pull.nodes
        .filter(({ problem }) => problem)
        .map(({ node, problem }) => (
          <Text key={node.id} size="xs">
            {node.name}: {problem}
          </Text>
        ))}
      {cancel.error && <ProblemAlert problem={cancel.error} />}
    </Stack>
  );
}
