import { Trans } from "@lingui/react/macro";
import { Button, Group, Stack, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { Change, SessionDetail } from "@/api/types";
import { useMe } from "@/me/use-me";
import { useReplaceSession } from "@/queries/sessions";
import { overSessions } from "@/routing/search";
import { CommandLine } from "@/ui/CommandLine";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { EndOwnButton } from "./EndOwnButton";
import { changedRequest } from "./replace";
import { useChangeText } from "./use-change-text";

interface Props {
  changes: Change[];
  session: SessionDetail;
}

/** The changes that would start the session now, cheapest first; its owner applies them by a button. */
export function Changes({ changes, session }: Props) {
  const changeText = useChangeText();
  const navigate = useNavigate();
  const replace = useReplaceSession();
  const mine = useMe().user.id === session.owner.id;
  const command = changes.find((change) => change.command !== "")?.command;
  // A promise, because this part of the page goes with the session that is replaced.
  const apply = (change: Change) => {
    replace.mutateAsync({ id: session.id, request: changedRequest(session, change) }).then(
      ({ id }) =>
        void navigate({
          to: "/sessions",
          search: (now) => overSessions(now, { session: id }),
          replace: true,
        }),
      () => undefined,
    );
  };
  return (
    <div>
      <Text size="xs" fw={600} mb={4}>
        <Trans>Ways to start now</Trans>
      </Text>
      <Stack gap={6} mb={6} align="flex-start">
        {changes.map((change) => (
          <Group key={`${change.kind}:${change.group?.id ?? ""}`} gap="xs">
            {change.kind === "end_own" ? (
              <EndOwnButton ids={change.sessions} />
            ) : mine ? (
              <Button
                size="compact-xs"
                variant="default"
                loading={replace.isPending}
                onClick={() => apply(change)}
              >
                {changeText(change)?.replace(/[.。]$/, "")}
              </Button>
            ) : (
              <Text size="sm">{changeText(change)}</Text>
            )}
          </Group>
        ))}
      </Stack>
      {replace.isError && <ProblemAlert problem={replace.error} />}
      {mine && changes.some(({ kind }) => kind !== "end_own") && (
        <Text size="xs" c="dimmed" mb={6}>
          <Trans>A changed request replaces this session under the same name.</Trans>
        </Text>
      )}
      {command && <CommandLine text={command} />}
    </div>
  );
}
