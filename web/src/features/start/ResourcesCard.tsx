import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import type { Resources } from "@/api/types";
import panel from "@/ui/Panel.module.css";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { inSlotOrder, slotAmount, slotColor, useSlotName } from "@/ui/slots";
import styles from "./StartPage.module.css";

/** Free capacity. */
export function ResourcesCard({
  resources,
  problem,
}: {
  resources: Resources | undefined;
  problem: unknown;
}) {
  const { t } = useLingui();
  return (
    <section className={panel.panel} aria-label={t`Available to you`}>
      <Stack gap="sm">
        <Title order={2} size="h4">
          <Trans>Available to you</Trans>
        </Title>
        {problem != null && <ProblemAlert problem={problem} />}
        {!resources && problem == null && <Skeleton height={72} />}
        {resources && (
          <>
            {inSlotOrder(Object.keys(resources.capacity)).map((slot) => (
              <Meter
                key={slot}
                slot={slot}
                left={resources.left[slot] ?? 0}
                capacity={resources.capacity[slot] ?? 0}
              />
            ))}
            <Text size="xs" c="dimmed">
              <Plural value={resources.nodes} one="On # node." other="On # nodes." />
            </Text>
          </>
        )}
      </Stack>
    </section>
  );
}

interface MeterProps {
  slot: string;
  left: number;
  capacity: number;
}

function Meter({ slot, left, capacity }: MeterProps) {
  const slotName = useSlotName();
  const free = capacity > 0 ? (left / capacity) * 100 : 0;
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={500}>
          {slotName(slot)}
        </Text>
        <Text size="sm">
          <Trans>
            {slotAmount(slot, left)} of {slotAmount(slot, capacity)}
          </Trans>
        </Text>
      </Group>
      <div className={styles.meter} aria-hidden>
        <span style={{ width: `${free}%`, background: slotColor(slot) }} />
      </div>
    </div>
  );
}
