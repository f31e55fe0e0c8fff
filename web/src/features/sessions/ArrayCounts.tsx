import { useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Session } from "@/api/types";
import { arrayTotals } from "./arrays";

/** What the sessions of an array do, and how those ended that have. */
export function ArrayCounts({ array }: { array: NonNullable<Session["array"]> }) {
  const { t } = useLingui();
  const { pending, starting, running, ending, done, failed, cancelled } = arrayTotals(array);
  const parts = [
    pending && t`${pending} pending`,
    starting && t`${starting} starting`,
    running && t`${running} running`,
    ending && t`${ending} terminating`,
    done && t`${done} done`,
    failed && t`${failed} failed`,
    cancelled && t`${cancelled} cancelled`,
  ];
  const line = parts.filter(Boolean).join(", ");
  return (
    <Text size="xs" c={failed > 0 ? "var(--carrel-bad)" : "dimmed"} truncate title={line}>
      {line}
    </Text>
  );
}
