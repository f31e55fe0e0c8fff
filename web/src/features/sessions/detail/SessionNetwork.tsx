import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Problem } from "@/api/problem";
import type { NetworkCheck, SessionDetail } from "@/api/types";
import { networkCheckQuery, useCheckNetwork } from "@/queries/network-checks";
import { CommandLine } from "@/ui/CommandLine";
import { formatSize } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { formatShort, LACK_WORDS, MEASURED, METHOD_WORDS, TRANSPORT_WORDS } from "./network-words";

/** The last measurement between the containers or accelerators of a session, and another one on request. */
export function SessionNetwork({ session, usable }: { session: SessionDetail; usable: boolean }) {
  const { t } = useLingui();
  const state = useQuery(networkCheckQuery(session.id));
  const check = useCheckNetwork(session.id);
  const running = session.state === "RUNNING" && usable;
  const last = state.data?.last ?? null;
  if (!running && !last) return null;
  return (
    <Stack gap={6} component="section" aria-label={t`Network`}>
      <Group justify="space-between">
        <Text size="sm" fw={500}>
          <Trans>Network</Trans>
        </Text>
        {running && (
          <Button
            size="compact-sm"
            variant="default"
            loading={check.isPending || state.data?.running === true}
            onClick={() => check.mutate()}
          >
            {last ? <Trans>Measure again</Trans> : <Trans>Measure</Trans>}
          </Button>
        )}
      </Group>
      {check.isPending && (
        <Text size="sm" c="dimmed" role="status">
          <Trans>It takes at most a minute.</Trans>
        </Text>
      )}
      {check.error ? <ProblemAlert problem={check.error} /> : last && <LastCheck check={last} />}
      {running && <CommandLine text={`carrel session check-network ${session.id}`} />}
    </Stack>
  );
}

/** The result of a check. */
export function LastCheck({ check }: { check: NetworkCheck }) {
  const { i18n } = useLingui();
  if (check.code !== MEASURED)
    return (
      <ProblemAlert
        problem={
          new Problem({ status: 409, code: check.code, detail: check.message ?? "", hint: check.hint })
        }
      />
    );
  const latency = formatShort(check.latency_s ?? 0, i18n.locale);
  return (
    <>
      <Text size="sm">
        <Trans>Latency {latency}</Trans>
        {" · "}
        {check.method && i18n._(METHOD_WORDS[check.method])}
        {" · "}
        <Instant at={check.at} />
      </Text>
      {check.lack && (
        <Text size="sm" c="dimmed">
          {i18n._(LACK_WORDS[check.lack])}
        </Text>
      )}
      <Paths check={check} />
      <Messages check={check} />
    </>
  );
}

function Paths({ check: { paths = [] } }: { check: NetworkCheck }) {
  const { t, i18n } = useLingui();
  return (
    <Table.ScrollContainer minWidth={380} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table aria-label={t`Path of the messages`} fz="sm" verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t({ context: "network", message: "From" })}</Table.Th>
            <Table.Th>{t({ context: "network", message: "To" })}</Table.Th>
            <Table.Th>{t`Transport`}</Table.Th>
            <Table.Th>{t`Interface`}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {paths.map(({ sender, receiver, transport, interface: name, detail }) => (
            <Table.Tr key={`${sender} ${receiver}`}>
              <Table.Th scope="row">{sender}</Table.Th>
              <Table.Td>{receiver}</Table.Td>
              <Table.Td>
                {i18n._(TRANSPORT_WORDS[transport])}
                {detail && (
                  <Text size="xs" c="dimmed">
                    {detail}
                  </Text>
                )}
              </Table.Td>
              <Table.Td>{name ?? "–"}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Messages({ check: { messages = [] } }: { check: NetworkCheck }) {
  const { t, i18n } = useLingui();
  const speed = (value: number) => `${formatSize(value)}/s`;
  return (
    <Table.ScrollContainer minWidth={380} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table aria-label={t`Bandwidth by size`} fz="sm" verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t`Size`}</Table.Th>
            <Table.Th>{t({ context: "network", message: "Duration" })}</Table.Th>
            <Table.Th>{t`Bandwidth`}</Table.Th>
            <Table.Th>{t`Bus bandwidth`}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {messages.map((one) => (
            <Table.Tr key={one.size_bytes}>
              <Table.Th scope="row">{formatSize(one.size_bytes)}</Table.Th>
              <Table.Td>{formatShort(one.seconds, i18n.locale)}</Table.Td>
              <Table.Td>{speed(one.bytes_per_s)}</Table.Td>
              <Table.Td>{speed(one.bus_bytes_per_s)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
