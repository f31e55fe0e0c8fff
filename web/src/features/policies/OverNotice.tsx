import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Alert, List, Text } from "@mantine/core";
import { IconAlertTriangle, IconCheck } from "@tabler/icons-react";
import type { UseQueryResult } from "@tanstack/react-query";
import type { Over } from "@/api/types";
import { formatSize } from "@/ui/format";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { slotText } from "@/ui/slots";

interface Props {
  /** The holders that would exceed the limits in the form. */
  query: UseQueryResult<Over[]>;
}

/** Maximum number of names; the rest is counted. */
const NAMED = 12;

/** Shows who would exceed the new limits, before saving. */
export function OverNotice({ query }: Props) {
  if (query.isError) return <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) {
    return (
      <Text size="sm" c="dimmed" role="status">
        <Trans>Checking who exceeds the new limits…</Trans>
      </Text>
    );
  }
  const over = query.data;
  if (over.length === 0) {
    return (
      <Alert color="lamp" variant="light" icon={<IconCheck size={18} aria-hidden />} role="status">
        <Trans>No one exceeds the new limits.</Trans>
      </Alert>
    );
  }
  const who = new Set(over.map(({ scope, id }) => `${scope}:${id}`)).size;
  return (
    <Alert
      color="brass"
      variant="light"
      role="status"
      icon={<IconAlertTriangle size={18} aria-hidden />}
      title={<Plural value={who} one="# exceeds the new limit" other="# exceed the new limit" />}
    >
      <Text size="sm" mb={6}>
        <Trans>
          Running sessions are not affected. New sessions cannot start until usage is below the limit.
        </Trans>
      </Text>
      <List size="sm" spacing={2}>
        {over.slice(0, NAMED).map((one) => (
          <List.Item key={`${one.scope}:${one.id}:${one.slot}:${one.waiting}`}>
            <OverLine over={one} />
          </List.Item>
        ))}
      </List>
      {over.length > NAMED && (
        <Text size="sm" mt={4}>
          <Plural value={over.length - NAMED} one="and # more" other="and # more" />
        </Text>
      )}
    </Alert>
  );
}

function OverLine({ over }: { over: Over }) {
  const { t } = useLingui();
  const scopes: Record<Over["scope"], string> = {
    keypair: t`keypair`,
    sign_in: t`without a keypair`,
    user: t`user`,
    project: t`project`,
    domain: t`domain`,
  };
  const amount = (of: number) => {
    if (over.slot === "sessions") return t`${of} sessions`;
    if (over.slot === "folders") return t`${of} folders`;
    return over.slot === "folder_bytes" ? formatSize(of) : slotText(over.slot, of);
  };
  const [used, ceiling] = [amount(over.used), amount(over.ceiling)];
  return (
    <>
      <b>{over.label || over.id}</b> ({scopes[over.scope]}):{" "}
      {over.waiting ? (
        <Trans>
          pending {used}, limit {ceiling}
        </Trans>
      ) : (
        <Trans>
          uses {used}, limit {ceiling}
        </Trans>
      )}
    </>
  );
}
