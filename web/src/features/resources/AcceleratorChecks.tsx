import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Progress, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { AcceleratorCheck, NodeDetail } from "@/api/types";
import {
  acceleratorChecksQuery,
  useCancelAcceleratorCheck,
  useCheckAccelerators,
  usePutBack,
} from "@/queries/accelerator-checks";
import { CommandLine } from "@/ui/CommandLine";
import { commandLine } from "@/ui/command";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { StateBadge } from "@/ui/StateBadge";
import { CheckResults } from "./CheckResults";
import { CHECK_OUTCOMES } from "./check-words";
import { PULL_STATES } from "./pull-words";

/** Checks the accelerators of a node, shows the latest checks, and puts accelerators back. */
export function AcceleratorChecks({ node }: { node: NodeDetail }) {
  const check = useCheckAccelerators();
  const latest = useQuery(acceleratorChecksQuery(node.id));
  const checks = latest.data ?? [];
  return (
    <Stack gap="xs" component="section">
      <Group justify="space-between">
        <Title order={2} size="h4">
          <Trans>Checks of accelerators</Trans>
        </Title>
        <Button
          size="xs"
          variant="default"
          loading={check.isPending}
          disabled={checks.some(({ ended_at }) => ended_at === null)}
          onClick={() => check.mutate(node.id)}
        >
          <Trans>Check accelerators</Trans>
        </Button>
      </Group>
      <Text size="xs" c="dimmed">
        <Trans>
          Containers look from inside at what they get. Accelerators that sessions hold are left out; the
          others are not available to sessions meanwhile.
        </Trans>
      </Text>
      {check.error && <ProblemAlert problem={check.error} />}
      {latest.error && <ProblemAlert problem={latest.error} onRetry={() => void latest.refetch()} />}
      <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: "none" }} aria-live="polite">
        {checks.map((one) => (
          <li key={one.id}>
            <CheckState check={one} />
          </li>
        ))}
      </Stack>
      {checks[0] && <CheckResults results={checks[0].results} />}
      <SetAside node={node} />
      <CommandLine text={commandLine("carrel", "node", "check-accelerators", node.name)} />
    </Stack>
  );
}

function CheckState({ check }: { check: AcceleratorCheck }) {
  const { t, i18n } = useLingui();
  const cancel = useCancelAcceleratorCheck();
  const open = check.ended_at === null;
  const { title, look } = check.outcome ? CHECK_OUTCOMES[check.outcome] : PULL_STATES[check.state];
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <StateBadge look={look} state={check.outcome ?? check.state}>
          {i18n._(title)}
        </StateBadge>
        <Text size="xs" c="dimmed">
          {check.requested_by?.email ?? "Carrel"} · <Instant at={check.ended_at ?? check.created_at} />
          {check.driver && ` · ${check.driver}`}
        </Text>
        {open && (
          <Button
            size="compact-xs"
            variant="default"
            loading={cancel.isPending}
            disabled={check.cancel}
            onClick={() => cancel.mutate(check.id)}
          >
            <Trans>Cancel</Trans>
          </Button>
        )}
      </Group>
      {open && <Progress value={100 * check.progress} aria-label={t`Progress of the check`} />}
      {open && check.step && <Text size="xs">{check.step}</Text>}
      {check.problem && <Text size="xs">{check.problem}</Text>}
      {cancel.error && <ProblemAlert problem={cancel.error} />}
    </Stack>
  );
}

/** Accelerators that are out of order; those without a problem by now can be put back. */
function SetAside({ node }: { node: NodeDetail }) {
  const { t } = useLingui();
  const putBack = usePutBack();
  const aside = node.devices.filter(({ healthy }) => !healthy);
  if (aside.length === 0) return null;
  return (
    <Stack gap="xs">
      <Text size="xs">
        <Trans>
          An accelerator that was out of order is put back after a check of it. You can put it back without
          one once it has no problem any more.
        </Trans>
      </Text>
      {aside.map(({ id }) => (
        <Group key={id} gap="xs">
          <Text size="sm">{id}</Text>
          <Button
            size="compact-xs"
            variant="default"
            aria-label={t`Put back ${id}`}
            loading={putBack.isPending && putBack.variables?.device === id}
            onClick={() => putBack.mutate({ node: node.id, device: id })}
          >
            <Trans>Put back</Trans>
          </Button>
        </Group>
      ))}
      {putBack.error && <ProblemAlert problem={putBack.error} />}
    </Stack>
  );
}
