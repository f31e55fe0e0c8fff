import { Text } from "@mantine/core";
import type { AuditEntry } from "@/api/types";
import { useEntryText } from "./sentences/use-entry-text";

/** What an entry tells; a refused one with its reason. */
export function EntryText({ entry }: { entry: AuditEntry }) {
  const { text, reason } = useEntryText(entry);
  return (
    <div style={{ whiteSpace: "normal", overflowWrap: "anywhere" }}>
      <Text size="sm">{text}</Text>
      {reason && (
        <Text size="xs" c="var(--carrel-bad)">
          {reason}
        </Text>
      )}
    </div>
  );
}
