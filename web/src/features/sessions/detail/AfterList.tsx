import { Trans } from "@lingui/react/macro";
import { Anchor, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Dependency } from "@/api/types";
import { ArrayCounts } from "@/features/sessions/ArrayCounts";
import { arrayName, rowResult, rowState } from "@/features/sessions/arrays";
import { SessionBadge } from "@/features/sessions/SessionBadge";
import { useConditionText } from "@/features/sessions/use-condition-text";

/** The sessions and arrays that must end before a session starts, each with its state and the condition. */
export function AfterList({ after }: { after: readonly Dependency[] }) {
  const conditionText = useConditionText();
  return (
    <Stack gap={4}>
      {after.map(({ id, name, array, condition, state, result }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order never changes, and hidden ones have no id
        <Group key={at} gap="xs">
          {id ? (
            <Anchor
              size="sm"
              renderRoot={(props) => (
                <Link
                  {...props}
                  to="/sessions"
                  search={{ state: "all", owner: "all", ...(array ? { array: id } : { session: id }) }}
                />
              )}
            >
              {array ? arrayName(array) : name}
            </Anchor>
          ) : (
            <Text size="sm" c="dimmed">
              <Trans>another user's session</Trans>
            </Text>
          )}
          <Text size="sm">{conditionText(condition)}</Text>
          <SessionBadge state={rowState({ state, array })} result={rowResult({ state, array, result })} />
          {array && <ArrayCounts array={array} />}
        </Group>
      ))}
    </Stack>
  );
}
