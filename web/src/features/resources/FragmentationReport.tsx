import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Skeleton, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Fragmentation } from "@/api/types";
import { fragmentationQuery } from "@/queries/devices";
import { AccountName } from "@/ui/AccountName";
import { CommandLine } from "@/ui/CommandLine";
import { commandLine } from "@/ui/command";
import { EmptyState } from "@/ui/EmptyState";
import { formatCores } from "@/ui/format";
import { ProblemAlert } from "@/ui/ProblemAlert";
import styles from "./FragmentationReport.module.css";

interface Props {
  family: string | undefined;
  /** The id of a resource group. */
  group: string | undefined;
}

/** How many devices are free as a whole, and which sessions would free more if they moved. */
export function FragmentationReport({ family, group }: Props) {
  const { t } = useLingui();
  const query = useQuery(fragmentationQuery());
  const reports = (query.data ?? []).filter(
    (one) => (!family || one.family === family) && (!group || one.group.id === group),
  );
  const steps = reports.flatMap((one) => one.freed);
  return (
    <div className={styles.report}>
      {query.isPending && <Skeleton height={180} aria-busy />}
      {query.isError && <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />}
      {query.data && reports.length === 0 && <EmptyState title={t`No accelerators that accept sessions`} />}
      {reports.length > 0 && (
        <>
          <Counts reports={reports} />
          <section>
            <Title order={2} size="h4">
              <Trans>Moves that would free whole devices</Trans>
            </Title>
            <Text size="sm" c="dimmed">
              {steps.length > 0 ? (
                <Trans>
                  Nothing is moved by itself. Each step assumes those before it, and frees one device by
                  moving as few sessions as possible.
                </Trans>
              ) : (
                <Trans>No device can be freed by moving the sessions that hold parts of it.</Trans>
              )}
            </Text>
            <ol className={styles.steps}>
              {steps.map((step) => (
                <li key={`${step.device.node}/${step.device.device}`}>
                  <Step step={step} />
                </li>
              ))}
            </ol>
          </section>
          <CommandLine text={commandLine("carrel", "node", "fragmentation")} />
        </>
      )}
    </div>
  );
}

function Counts({ reports }: { reports: readonly Fragmentation[] }) {
  const { t } = useLingui();
  return (
    <Table.ScrollContainer minWidth={560} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table aria-label={t`Fragmentation`} fz="sm" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t`Group`}</Table.Th>
            <Table.Th>{t`Family`}</Table.Th>
            <Table.Th>{t`Devices`}</Table.Th>
            <Table.Th>{t`Free`}</Table.Th>
            <Table.Th>{t`In part`}</Table.Th>
            <Table.Th>{t`Full`}</Table.Th>
            <Table.Th>{t`Below the smallest share`}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {reports.map((one) => (
            <Table.Tr key={`${one.group.id}/${one.family}`}>
              <Table.Th scope="row">{one.group.name}</Table.Th>
              <Table.Td>{one.family}</Table.Td>
              <Table.Td>{one.devices}</Table.Td>
              <Table.Td>{one.free}</Table.Td>
              <Table.Td>{one.broken}</Table.Td>
              <Table.Td>{one.full}</Table.Td>
              <Table.Td>{formatCores(one.stranded)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Step({ step }: { step: Fragmentation["freed"][number] }) {
  const { device, moves } = step;
  const number = moves.length;
  const { device: id, node, node_name } = device;
  return (
    <>
      <Text size="sm">
        <Trans>
          <b title={id}>A device</b> on{" "}
          <Link to="/resources" search={{ open: node }}>
            {node_name}
          </Link>
          , by moving <Plural value={number} one="# session" other="# sessions" />:
        </Trans>
      </Text>
      <ul>
        {moves.map(({ session, name, owner, amount, to }) => {
          const [part, target] = [formatCores(amount), to.node_name];
          return (
            <li key={session}>
              <Trans>
                <Link to="/sessions" search={{ owner: "all", session }}>
                  {name}
                </Link>{" "}
                of <AccountName email={owner.email} /> ({part} of a device) to another device on {target}
              </Trans>
            </li>
          );
        })}
      </ul>
    </>
  );
}
