import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import type { Resources } from "@/api/types";
import { formatCores, formatSize } from "@/ui/format";
import { ProblemAlert } from "@/ui/ProblemAlert";
import styles from "./StartPage.module.css";

/** How much of the machines is free. */
export function ResourcesCard({
  resources,
  problem,
}: {
  resources: Resources | undefined;
  problem: unknown;
}) {
  const { t } = useLingui();
  return (
    <section className={styles.card} aria-label={t`What is free`}>
      <Stack gap="sm">
        <Title order={2} size="h4">
          <Trans>What is free</Trans>
        </Title>
        {problem != null && <ProblemAlert problem={problem} />}
        {!resources && problem == null && <Skeleton height={72} />}
        {resources && (
          <>
            <Meter
              name={t`CPU`}
              left={resources.left.cpu}
              capacity={resources.capacity.cpu}
              show={formatCores}
              color="var(--carrel-cpu)"
            />
            <Meter
              name={t`Memory`}
              left={resources.left.mem}
              capacity={resources.capacity.mem}
              show={formatSize}
              color="var(--carrel-mem)"
            />
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
  name: string;
  left: number;
  capacity: number;
  show: (amount: number) => string;
  color: string;
}

function Meter({ name, left, capacity, show, color }: MeterProps) {
  const free = capacity > 0 ? (left / capacity) * 100 : 0;
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={500}>
          {name}
        </Text>
        <Text size="sm">
          <Trans>
            {show(left)} of {show(capacity)}
          </Trans>
        </Text>
      </Group>
      <div className={styles.meter} aria-hidden>
        <span style={{ width: `${free}%`, background: color }} />
      </div>
    </div>
  );
}
