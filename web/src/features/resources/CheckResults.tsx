import { useLingui } from "@lingui/react/macro";
import { Group, Stack, Text } from "@mantine/core";
import type { AcceleratorCheck } from "@/api/types";
import { formatSize } from "@/ui/format";
import { StateBadge } from "@/ui/StateBadge";
import { CHECK_OUTCOMES, CHECKED_ASPECTS } from "./check-words";

type Result = AcceleratorCheck["results"][number];

/** What a check has seen of each accelerator, and of shares of it; those that failed are open. */
export function CheckResults({ results }: { results: Result[] }) {
  const { t, i18n } = useLingui();
  if (results.length === 0) return null;
  return (
    <Stack gap={4} component="section" aria-label={t`Results of the last check`}>
      {results.map((result) => (
        <details key={result.device} open={result.outcome === "failed"}>
          <summary style={{ cursor: "pointer" }}>
            <Group gap="xs" display="inline-flex">
              <Text size="sm">{result.device}</Text>
              <Outcome outcome={result.outcome} />
            </Group>
          </summary>
          <Stack gap="xs" py={6} pl="md">
            {result.measures.map(({ name, outcome, text }) => (
              <Seen key={name} title={i18n._(CHECKED_ASPECTS[name])} outcome={outcome} text={text} />
            ))}
            {result.shares.map((share) => (
              <Share key={share.thousandths} share={share} />
            ))}
          </Stack>
        </details>
      ))}
    </Stack>
  );
}

function Share({ share }: { share: Result["shares"][number] }) {
  const { t } = useLingui();
  const { limit_bytes: limit, allocated_bytes: allocated, neighbour_loss_percent: loss } = share;
  const part = share.thousandths / 1000;
  const [got, most] = [formatSize(allocated ?? 0), formatSize(limit ?? 0)];
  const seen = [
    allocated !== null && limit !== null && t`It got ${got} of memory; its share is ${most}.`,
    loss !== null && t`The neighbor computed ${loss} % slower.`,
    share.text,
  ];
  return <Seen title={t`${part} of it`} outcome={share.outcome} text={seen.filter(Boolean).join(" ")} />;
}

function Seen({ title, outcome, text }: { title: string; outcome: Result["outcome"]; text: string }) {
  return (
    <div>
      <Group gap="xs">
        <Text size="sm" fw={500}>
          {title}
        </Text>
        <Outcome outcome={outcome} />
      </Group>
      <Text size="xs" style={{ overflowWrap: "anywhere" }}>
        {text}
      </Text>
    </div>
  );
}

function Outcome({ outcome }: { outcome: Result["outcome"] }) {
  const { i18n } = useLingui();
  const { title, look } = CHECK_OUTCOMES[outcome];
  return (
    <StateBadge look={look} state={outcome}>
      {i18n._(title)}
    </StateBadge>
  );
}
