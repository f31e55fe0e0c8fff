import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { NodeDetail } from "@/api/types";
import { useSumOfReadings } from "@/cache/usage";
import { usageRecentQuery } from "@/queries/usage";
import { Sparkline } from "@/ui/Sparkline";
import { slotAmount, slotColor, useSlotName } from "@/ui/slots";

/** The measured usage of a node's sessions over the last five minutes. */
export function NodeUsage({ node }: { node: NodeDetail }) {
  const { t } = useLingui();
  const name = useSlotName();
  const running = node.sessions.filter(({ state }) => state === "RUNNING").map(({ id }) => id);
  useQuery(usageRecentQuery(running));
  const sum = useSumOfReadings(running);
  if (sum.cpu_millis.length < 2) return null;
  const graphs = [
    { slot: "cpu", values: sum.cpu_millis },
    { slot: "mem", values: sum.mem_bytes },
  ];
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        <Trans>Usage in the last 5 minutes</Trans>
      </Title>
      <Group gap="xl">
        {graphs.map(({ slot, values }) => {
          const now = slotAmount(slot, values.at(-1) ?? 0);
          const whole = slotAmount(slot, node.slots[slot] ?? 0);
          const what = name(slot);
          return (
            <div key={slot}>
              <Text size="xs" c="dimmed">{t`${what}: ${now} of ${whole} now`}</Text>
              <Sparkline
                values={values}
                ceiling={node.slots[slot] ?? 0}
                color={slotColor(slot)}
                label={t`${what}: ${now} of ${whole} now`}
                width={260}
                height={64}
              />
            </div>
          );
        })}
      </Group>
    </section>
  );
}
