import { Trans, useLingui } from "@lingui/react/macro";
import { Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SessionDetail, Why } from "@/api/types";
import { sessionsWhyQuery } from "@/queries/sessions";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { Changes } from "./Changes";
import { LimitBar } from "./LimitBar";
import { NodeCauses } from "./NodeCauses";
import { PriorityForm } from "./PriorityForm";
import { useReason } from "./use-reason";
import styles from "./Why.module.css";

/** Why a session is pending, what would start it now, and its forecast; live. */
export function WhyBox({ session }: { session: SessionDetail }) {
  const { t } = useLingui();
  const why = useQuery(sessionsWhyQuery(session.id));
  if (why.data && !why.data.waiting) return null;
  return (
    <section className={styles.box} aria-label={t`Why is it waiting?`}>
      <Title order={3} size="h5" mb={6}>
        <Trans>Why is it waiting?</Trans>
      </Title>
      {why.isPending && <Skeleton height={64} aria-busy />}
      {why.isError && <ProblemAlert problem={why.error} onRetry={() => void why.refetch()} />}
      {why.data && <Answer why={why.data} session={session} />}
    </section>
  );
}

function Answer({ why, session }: { why: Why; session: SessionDetail }) {
  const { t } = useLingui();
  const reason = useReason();
  return (
    <Stack gap="sm">
      <div>
        <Text size="sm" fw={600}>
          {reason(why.reason)}
        </Text>
        {why.also.map((sentence) => (
          <Text key={sentence} size="sm">
            {reason(sentence)}
          </Text>
        ))}
        <Text size="sm" c="dimmed">
          {why.position !== null && (
            <>
              <Link to="/scheduler" search={{ group: why.group.name }} className={styles.link}>
                <Trans>
                  Queue position {why.position} of {why.queue_length} in {why.group.name}
                </Trans>
              </Link>
              <br />
            </>
          )}
          {why.expected_start && why.cause === "machine" && (
            <Trans>
              Estimated start: <Instant at={why.expected_start} />, if a machine takes as long as before.
            </Trans>
          )}
          {why.expected_start && why.position !== null ? (
            <Trans>
              Estimated start: <Instant at={why.expected_start} />, if no new sessions arrive and all sessions
              run to their time limits.
            </Trans>
          ) : (
            why.position !== null &&
            (why.no_estimate ? reason(why.no_estimate) : <Trans>No estimated start time.</Trans>)
          )}
        </Text>
      </div>
      {why.limits.length > 0 && (
        <Stack gap={8} role="group" aria-label={t`Limits that block it`}>
          {why.limits.map((limit) => (
            <LimitBar key={`${limit.scope}:${limit.slot}`} limit={limit} owner={session.owner.id} />
          ))}
        </Stack>
      )}
      {why.nodes.length > 1 && <NodeCauses nodes={why.nodes} />}
      {why.alternatives.map((one) => (
        <Alternative key={one.group.id} one={one} owner={session.owner.id} />
      ))}
      {why.changes.length > 0 && <Changes changes={why.changes} session={session} />}
      {why.position !== null && <PriorityForm key={session.priority} session={session} />}
    </Stack>
  );
}

/** Why it does not start in another group that it accepts. */
function Alternative({ one, owner }: { one: Why["alternatives"][number]; owner: string }) {
  const reason = useReason();
  return (
    <div>
      <Text size="sm" fw={600}>
        <Trans>Also accepts {one.group.name}</Trans>
      </Text>
      {[one.reason, ...one.also].map((sentence) => (
        <Text key={sentence} size="sm">
          {reason(sentence)}
        </Text>
      ))}
      <Link to="/scheduler" search={{ group: one.group.name }} className={styles.link}>
        <Trans>
          Queue position {one.position} of {one.queue_length} in {one.group.name}
        </Trans>
      </Link>
      {one.limits.map((limit) => (
        <LimitBar key={`${limit.scope}:${limit.slot}`} limit={limit} owner={owner} />
      ))}
      {one.nodes.length > 1 && <NodeCauses nodes={one.nodes} />}
    </div>
  );
}
