import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Session, SessionIdleRule } from "@/api/types";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { sessionsIdleQuery, useKeepSession } from "@/queries/sessions";
import { formatDuration, formatInstant } from "@/ui/format";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { useNow } from "@/ui/use-now";
import { leftUntil } from "./left";

const RULES: Record<SessionIdleRule["rule"], MessageDescriptor> = {
  traffic: msg`No activity`,
  use: msg`Low utilization`,
  lifetime: msg`Maximum lifetime`,
};

/** The idle checks of a running session, with the remaining time; administrators may exempt it. */
export function IdleRules({ session }: { session: Session }) {
  const { i18n } = useLingui();
  const idle = useQuery(sessionsIdleQuery(session.id)).data;
  return idle?.rules.map((rule, index) => (
    <div key={rule.rule} style={{ display: "contents" }}>
      <dt>{i18n._(RULES[rule.rule])}</dt>
      <dd>
        <Left rule={rule} exempt={idle.exempt} />
        {index === 0 && rule.rule !== "lifetime" && <Exempt session={session} exempt={idle.exempt} />}
      </dd>
    </div>
  ));
}

function Exempt({ session, exempt }: { session: Session; exempt: boolean }) {
  const me = useMe();
  const change = useKeepSession();
  // Domain administrators see only sessions of their domain.
  const whose = { project: session.project.id, domain: me.user.domain.id };
  if (!may(me, "session.exempt", whose)) return null;
  const act = () => change.mutate({ id: session.id, exempt: !exempt });
  return (
    <>
      <Button size="compact-xs" variant="subtle" ml="xs" loading={change.isPending} onClick={act}>
        {exempt ? <Trans>Remove exemption</Trans> : <Trans>Exempt from idle checks</Trans>}
      </Button>
      {change.error && <ProblemAlert problem={change.error} onRetry={act} />}
    </>
  );
}

function Left({ rule, exempt }: { rule: SessionIdleRule; exempt: boolean }) {
  const { i18n } = useLingui();
  const now = useNow();
  const most = formatDuration(rule.limit_s * 1000, i18n.locale);
  if (exempt && rule.rule !== "lifetime") return <Trans>never: an administrator exempted it</Trans>;
  if (!rule.ends_at) return <Trans>in use, limit {most}</Trans>;
  const milliseconds = leftUntil(rule.ends_at, now);
  const left = milliseconds !== null && formatDuration(milliseconds, i18n.locale);
  return (
    <time dateTime={rule.ends_at} title={formatInstant(rule.ends_at, i18n.locale)}>
      {left ? (
        <Trans>
          in {left}, limit {most}
        </Trans>
      ) : (
        <Trans>any moment, limit {most}</Trans>
      )}
    </time>
  );
}
