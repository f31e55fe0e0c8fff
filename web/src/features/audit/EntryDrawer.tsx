import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Anchor, Skeleton, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { AuditEntry } from "@/api/types";
import { auditShowQuery } from "@/queries/audit";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { EmptyState } from "@/ui/EmptyState";
import { Facts } from "@/ui/Facts";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { EntryChanges } from "./EntryChanges";
import { EntryDetails } from "./EntryDetails";
import { ObjectLink } from "./ObjectLink";
import { credentialText } from "./sentences/credential";
import { entryText, refusalText } from "./sentences/entry-text";
import { useVoice } from "./sentences/use-entry-text";

interface Props {
  opened: boolean;
  id: string;
  /** The entry, if the list has loaded it. */
  listed: AuditEntry | undefined;
  onClose: () => void;
}

/** All details of one audit entry. */
export function EntryDrawer({ opened, id, listed, onClose }: Props) {
  const { t } = useLingui();
  const voice = useVoice();
  const query = useQuery({ ...auditShowQuery(id), enabled: listed === undefined });
  const entry = listed ?? query.data;
  return (
    <DetailDrawer
      opened={opened}
      id={id}
      onClose={onClose}
      size="xl"
      title={entry ? entryText(entry, voice) : t`Audit trail entry`}
    >
      {entry ? (
        <Entry entry={entry} />
      ) : query.isError ? (
        <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
      ) : query.isPending ? (
        <Skeleton height={320} aria-busy />
      ) : (
        <EmptyState
          title={t`Entry not found`}
          text={t`You may not have permission to see it, or it is older than the retention period.`}
        />
      )}
    </DetailDrawer>
  );
}

function Entry({ entry }: { entry: AuditEntry }) {
  const { t } = useLingui();
  const voice = useVoice();
  return (
    <Stack gap="lg">
      {entry.outcome === "refused" && (
        <Alert color="red" variant="light" title={t`Refused`}>
          {refusalText(entry, voice) || <Trans>No reason was recorded.</Trans>}
        </Alert>
      )}
      <Facts
        facts={[
          [t`When`, <Instant key="at" at={entry.at} />],
          [
            t`Who`,
            entry.actor.email ? (
              <Anchor
                key="who"
                size="sm"
                renderRoot={(props) => (
                  <Link {...props} to="/audit" search={{ actor: entry.actor.id ?? entry.actor.email }} />
                )}
              >
                {entry.actor.email}
              </Anchor>
            ) : (
              "–"
            ),
          ],
          [t`Object`, <ObjectLink key="object" object={entry.object} />],
          [t({ context: "credential", message: "By" }), credentialText(entry.credential, voice)],
          [t`Address`, entry.address],
        ]}
      />
      <EntryChanges entry={entry} />
      <EntryDetails entry={entry} />
    </Stack>
  );
}
