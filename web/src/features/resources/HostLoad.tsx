import { Trans, useLingui } from "@lingui/react/macro";
import { SimpleGrid, Text, Title } from "@mantine/core";
import type { Node } from "@/api/types";
import { formatSize } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import { slotAmount, slotColor } from "@/ui/slots";
import { share } from "./load";
import { UsageMeter } from "./UsageMeter";

/** The load of the whole machine, sessions and everything else on it. */
export function HostLoad({ host, slots }: { host: NonNullable<Node["host"]>; slots: Node["slots"] }) {
  const { t } = useLingui();
  const [cpu, mem] = [slots.cpu ?? 0, slots.mem ?? 0];
  const rate = (bytes: number) => t`${formatSize(bytes)}/s`;
  return (
    <section aria-label={t`Host usage`}>
      <Title order={2} size="h4" mb={4}>
        <Trans>Host usage</Trans>
      </Title>
      <Text size="xs" c="dimmed" mb="xs">
        <Trans>
          Sessions and everything else on the machine, in the minute before <Instant at={host.at} />.
        </Trans>
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="lg" verticalSpacing="sm">
        <Bar
          label={t`CPU`}
          used={slotAmount("cpu", Math.round(host.cpu))}
          whole={slotAmount("cpu", cpu)}
          part={share(host.cpu, cpu)}
          color={slotColor("cpu")}
        />
        <Bar
          label={t`Memory`}
          used={formatSize(host.mem)}
          whole={formatSize(mem)}
          part={share(host.mem, mem)}
          color={slotColor("mem")}
        />
        <Bar
          label={t`Disk space`}
          used={formatSize(host.disk_used)}
          whole={formatSize(host.disk_size)}
          part={share(host.disk_used, host.disk_size)}
          color="var(--carrel-violet)"
        />
        <Text component="div" size="xs" c="dimmed">
          <div>{t`Network: ${rate(host.received)} received, ${rate(host.sent)} sent`}</div>
          <div>{t`Disk: ${rate(host.read)} read, ${rate(host.written)} written`}</div>
        </Text>
      </SimpleGrid>
    </section>
  );
}

interface BarProps {
  label: string;
  used: string;
  whole: string;
  part: number;
  color: string;
}

function Bar({ label, used, whole, part, color }: BarProps) {
  const { t } = useLingui();
  const percent = Math.round(part * 100);
  return (
    <UsageMeter
      label={label}
      figures={t`${label}: ${used} of ${whole}`}
      text={t`${used} of ${whole}, ${percent}%`}
      percent={percent}
      color={color}
    />
  );
}
