import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Progress, Stack, Text, Title } from "@mantine/core";
import { IconPlayerStop } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Environment, EnvironmentPush } from "@/api/types";
import { environmentPushesQuery, useCancelPush } from "@/queries/environments";
import { PROBLEMS } from "@/sentences/problems";
import { CopyButton } from "@/ui/CopyButton";
import { formatInstant } from "@/ui/format";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { StateBadge } from "@/ui/StateBadge";
import { RowTool } from "@/ui/table/RowTool";
import { PUSH_PROBLEMS, PUSH_STATES } from "./words";

const SHOWN = 5;

/** The latest pushes of an environment, which are live; nothing without any. */
export function PushRows({ environment }: { environment: Environment }) {
  const pushes = useQuery(environmentPushesQuery(environment.id));
  if (pushes.isError) return <ProblemAlert problem={pushes.error} onRetry={() => void pushes.refetch()} />;
  if (!pushes.data?.length) return null;
  return (
    <Stack component="section" gap="sm">
      <Title order={3} size="h6">
        <Trans>Pushes to registries</Trans>
      </Title>
      {pushes.data.slice(0, SHOWN).map((push) => (
        <PushRow key={push.id} push={push} mayCancel={environment.may_change} />
      ))}
    </Stack>
  );
}

function PushRow({ push, mayCancel }: { push: EnvironmentPush; mayCancel: boolean }) {
  const { t, i18n } = useLingui();
  const cancel = useCancelPush();
  const words = PUSH_PROBLEMS[push.code ?? ""] ?? PROBLEMS[push.code ?? ""]?.detail;
  const { title, look } = PUSH_STATES[push.state];
  const open = push.ended_at === null;
  const at = formatInstant(push.created_at, i18n.locale);
  return (
    <Stack gap="xs">
      <Group gap="xs" wrap="nowrap" justify="space-between" align="flex-start">
        <Stack gap={2} style={{ minWidth: 0, flex: 1, overflowWrap: "anywhere" }} role="status">
          <Group gap="xs">
            <StateBadge look={look} state={push.state}>
              {i18n._(title)}
            </StateBadge>
            <Text size="xs" c="dimmed">
              <Trans>
                Version {push.version}, {at}
              </Trans>
            </Text>
          </Group>
          <Text size="sm">
            {push.reference} <CopyButton text={push.reference} label={t`Copy reference`} />
          </Text>
          {push.pinned && push.digest && (
            <Text size="xs" c="dimmed">
              {push.digest} <CopyButton text={push.pinned} label={t`Copy reference with digest`} />
            </Text>
          )}
          {open && (
            <Progress
              size="sm"
              value={push.progress === null ? 100 : Math.round(push.progress * 100)}
              animated={push.progress === null}
              aria-label={t`Progress of the push`}
            />
          )}
          {push.problem && (
            <Text size="sm" c={open ? "yellow.9" : "red"}>
              {words && i18n.locale !== "en" && `${i18n._(words)} `}
              {push.problem}
            </Text>
          )}
        </Stack>
        {open && mayCancel && (
          <RowTool
            label={t`Cancel`}
            row={push.reference}
            icon={IconPlayerStop}
            refusal={push.cancel ? t`It is being canceled.` : null}
            onClick={() => cancel.mutate({ id: push.environment_id, push: push.id })}
          />
        )}
      </Group>
      {cancel.error && <ProblemAlert problem={cancel.error} />}
    </Stack>
  );
}
