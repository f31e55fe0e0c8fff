import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Anchor, Code, Drawer, Skeleton, Stack, Table, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { AuditEntry } from "@/api/types";
import { auditShowQuery } from "@/queries/audit";
import { EmptyState } from "@/ui/EmptyState";
import { Facts } from "@/ui/Facts";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { differences, otherFacts } from "./differences";
import { ObjectLink } from "./ObjectLink";
import { useActionText } from "./use-action-text";

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
  const actionText = useActionText();
  const query = useQuery({ ...auditShowQuery(id), enabled: listed === undefined });
  const entry = listed ?? query.data;
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      size="xl"
      title={entry ? actionText(entry.action) : t`Audit trail entry`}
      closeButtonProps={{ "aria-label": t`Close` }}
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
    </Drawer>
  );
}

function Entry({ entry }: { entry: AuditEntry }) {
  const { t } = useLingui();
  return (
    <Stack gap="lg">
      {entry.outcome === "refused" && (
        <Alert color="red" variant="light" title={t`Refused`}>
          {entry.reason || <Trans>No reason was recorded.</Trans>}
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
          [t`Action`, <Code key="what">{entry.action}</Code>],
          [t`Object`, <ObjectLink key="object" object={entry.object} />],
          [t`By`, entry.credential],
          [t`Address`, entry.address],
          [t`Request`, entry.request_id],
          [t`Chain position`, entry.position === null ? t`not sealed yet` : `${entry.position}`],
          [t`Hash`, entry.hash !== null && <Code key="hash">{entry.hash}</Code>],
        ]}
      />
      <Changes entry={entry} />
    </Stack>
  );
}

function Changes({ entry }: { entry: AuditEntry }) {
  const { t } = useLingui();
  const changed = differences(entry.details);
  const others = otherFacts(entry.details);
  return (
    <>
      {changed.length > 0 && (
        <section>
          <Title order={2} size="h4" mb="xs">
            <Trans>Changes</Trans>
          </Title>
          <Table aria-label={t`Changes`} layout="fixed">
            <Table.Thead>
              <Table.Tr>
                <Table.Th w="26%">
                  <Trans>Field</Trans>
                </Table.Th>
                <Table.Th>
                  <Trans>Before</Trans>
                </Table.Th>
                <Table.Th>
                  <Trans>After</Trans>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {changed.map(({ field, before, after }) => (
                <Table.Tr key={field} style={{ overflowWrap: "anywhere" }}>
                  <Table.Td>{field}</Table.Td>
                  <Table.Td c="dimmed">{before ?? "–"}</Table.Td>
                  <Table.Td>{after ?? "–"}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </section>
      )}
      {others && <Code block>{others}</Code>}
    </>
  );
}
