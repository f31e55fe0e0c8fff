import { Text } from "@mantine/core";
import { hasEnded } from "@/api/session-states";
import type { Session } from "@/api/types";
import { useSessionText } from "@/sentences/use-session-text";
import { ArrayCounts } from "./ArrayCounts";
import { ProgressLine } from "./ProgressLine";

/** Why a session is not running: what it waits for, its progress, or how it ended. */
export function WhyCell({ session }: { session: Session }) {
  const { reason } = useSessionText();
  if (session.array) return <ArrayCounts array={session.array} />;
  if (!hasEnded(session.state)) return <ProgressLine session={session} oneLine />;
  if (!session.reason) return null;
  return (
    <Text
      size="xs"
      c={session.state === "ERROR" ? "var(--carrel-bad)" : "dimmed"}
      truncate
      title={reason(session.reason)}
    >
      {reason(session.reason)}
    </Text>
  );
}
