import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Alert, Box, Button, Code, Group, List, Loader, Stack, Text } from "@mantine/core";
import { IconShieldCheck, IconShieldX } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import type { AuditCheck } from "@/api/types";
import { verifyChain } from "@/queries/audit";
import { CopyButton } from "@/ui/CopyButton";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";

type Check = AuditCheck & { total: number };

/** Verifies the audit hash chain, with progress and result. */
export function ChainPanel() {
  const [round, setRound] = useState(0);
  const [checked, setChecked] = useState(0);
  const [check, setCheck] = useState<Check | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round verifies again
  useEffect(() => {
    const stop = new AbortController();
    setCheck(null);
    setProblem(null);
    setChecked(0);
    verifyChain(setChecked, stop.signal)
      .then(setCheck)
      .catch((thrown) => {
        if (!stop.signal.aborted) setProblem(thrown);
      });
    return () => stop.abort();
  }, [round]);
  const again = () => setRound(round + 1);
  return (
    <Box px="md" pb="sm" aria-live="polite">
      {problem != null ? (
        <ProblemAlert problem={problem} onRetry={again} />
      ) : check ? (
        <Verdict found={check} onAgain={again} />
      ) : (
        <Group gap="xs">
          <Loader size="xs" aria-hidden />
          <Text size="sm">
            <Plural value={checked} one="# entry verified…" other="# entries verified…" />
          </Text>
        </Group>
      )}
    </Box>
  );
}

function Verdict({ found, onAgain }: { found: Check; onAgain: () => void }) {
  const { t } = useLingui();
  const intact = found.faults.length === 0;
  const head = `${found.head.position}:${found.head.hash}`;
  const Icon = intact ? IconShieldCheck : IconShieldX;
  return (
    <Alert
      color={intact ? "lamp" : "red"}
      variant="light"
      icon={<Icon size={18} aria-hidden />}
      title={intact ? t`The audit trail is intact` : t`The audit trail was altered`}
    >
      <Stack gap="xs">
        <Text size="sm">
          <Plural value={found.total} one="# entry verified." other="# entries verified." />{" "}
          {found.waiting > 0 && (
            <Plural
              value={found.waiting}
              one="# entry is not sealed yet."
              other="# entries are not sealed yet."
            />
          )}{" "}
          {found.cut_at && (
            <Trans>
              Entries before <Instant at={found.cut_at} /> were removed by the retention period.
            </Trans>
          )}
        </Text>
        {!intact && (
          <List size="sm">
            {found.faults.map((fault) => (
              <List.Item key={`${fault.kind}:${fault.position}`}>{fault.sentence}</List.Item>
            ))}
          </List>
        )}
        <Text size="sm">
          <Trans>Store this value elsewhere. It later proves that no earlier entry was changed:</Trans>
        </Text>
        <Group gap={4} wrap="nowrap">
          <Code style={{ overflowWrap: "anywhere" }}>{head}</Code>
          <CopyButton text={head} label={t`Copy chain position`} />
        </Group>
        <Group>
          <Button size="xs" variant="default" onClick={onAgain}>
            <Trans>Verify again</Trans>
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
