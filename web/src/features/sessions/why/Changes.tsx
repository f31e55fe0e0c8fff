import { Trans } from "@lingui/react/macro";
import { List, Text } from "@mantine/core";
import type { Change } from "@/api/types";
import { CommandLine } from "@/ui/CommandLine";
import { EndOwnButton } from "./EndOwnButton";
import { useChangeText } from "./use-change-text";

/**
 * The changes that would start the session now, cheapest first; with a button where the page can apply it.
 */
export function Changes({ changes }: { changes: Change[] }) {
  const changeText = useChangeText();
  const command = changes.find((change) => change.command !== "")?.command;
  return (
    <div>
      <Text size="xs" fw={600} mb={4}>
        <Trans>Ways to start now</Trans>
      </Text>
      <List size="sm" spacing={4} mb={6}>
        {changes.map((change) => (
          <List.Item key={`${change.kind}:${change.group?.id ?? ""}`}>
            {change.kind === "end_own" ? <EndOwnButton ids={change.sessions} /> : changeText(change)}
          </List.Item>
        ))}
      </List>
      {command && <CommandLine text={command} />}
    </div>
  );
}
