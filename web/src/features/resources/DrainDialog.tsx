import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Modal, Radio, Skeleton, Stack, Table, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Drain, Draining } from "@/api/types";
import { nodesDrainQuery, nodesShowQuery, useDrainNode } from "@/queries/nodes";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { DRAINING, LEAVING, loses } from "./drain-words";

interface Props {
  opened: boolean;
  /** Id of the node. */
  id: string;
  onClose: () => void;
}

/** Asks how to drain a node, and previews what happens to each session on it. */
export function DrainDialog({ opened, id, onClose }: Props) {
  const { t } = useLingui();
  const node = useQuery(nodesShowQuery(id));
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      size="lg"
      title={node.data ? t`Drain ${node.data.name}` : t`Drain node`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {node.isPending && <Skeleton height={200} aria-busy />}
      {node.isError && <ProblemAlert problem={node.error} onRetry={() => void node.refetch()} />}
      {node.data && <DrainForm key={id} id={id} name={node.data.name} onDone={onClose} />}
    </Modal>
  );
}

const WAYS = ["wait", "move", "end"] as const;

function DrainForm({ id, name, onDone }: { id: string; name: string; onDone: () => void }) {
  const { t, i18n } = useLingui();
  const [how, setHow] = useState<Draining>("wait");
  const [typed, setTyped] = useState("");
  const drain = useDrainNode();
  const preview = useQuery(nodesDrainQuery(id, how));
  const lost = preview.data?.sessions.filter(loses).length ?? 0;
  const sure = lost === 0 || typed === name;
  return (
    <Form
      onSubmit={(event) => {
        event?.preventDefault();
        if (preview.data && sure) drain.mutate({ id, how }, { onSuccess: onDone });
      }}
      submit={<Trans>Drain</Trans>}
      onCancel={onDone}
      busy={drain.isPending}
      blocked={!preview.data || !sure}
      problem={drain.error}
      command={commandLine("carrel", "node", "drain", name, "--how", how)}
    >
      <Text size="sm">
        <Trans>The node is cordoned: it accepts no new sessions until it is uncordoned.</Trans>
      </Text>
      <Radio.Group
        label={t`Sessions`}
        value={how}
        onChange={(next) => {
          setHow(next as Draining);
          setTyped("");
        }}
      >
        <Stack gap={6} mt={6}>
          {WAYS.map((way) => (
            <Radio
              key={way}
              value={way}
              label={i18n._(DRAINING[way].title)}
              description={i18n._(DRAINING[way].text)}
            />
          ))}
        </Stack>
      </Radio.Group>
      {preview.isPending && <Skeleton height={80} aria-busy />}
      {preview.isError && <ProblemAlert problem={preview.error} onRetry={() => void preview.refetch()} />}
      {preview.data && <Consequences drain={preview.data} />}
      {lost > 0 && (
        <TextInput
          label={t`Type ${name} to confirm`}
          description={
            <Plural
              value={lost}
              one="# running session is interrupted."
              other="# running sessions are interrupted."
            />
          }
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
        />
      )}
    </Form>
  );
}

function Consequences({ drain }: { drain: Drain }) {
  const { t, i18n } = useLingui();
  if (drain.sessions.length === 0) {
    return (
      <Text size="sm" role="status">
        <Trans>The node has no sessions.</Trans>
      </Text>
    );
  }
  return (
    <Table aria-label={t`Affected sessions`} fz="sm" verticalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w="38%">{t`Session`}</Table.Th>
          <Table.Th>{t`Effect`}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {drain.sessions.map((session) => (
          <Table.Tr key={session.id}>
            <Table.Th scope="row" style={{ overflowWrap: "anywhere" }}>
              {session.name}
              <Text size="xs" c="dimmed" fw={400}>
                {session.owner.email}
              </Text>
            </Table.Th>
            <Table.Td c={loses(session) ? "var(--carrel-bad)" : undefined}>
              {i18n._(LEAVING[session.becomes])}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
