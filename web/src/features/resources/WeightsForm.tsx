import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Alert, NumberInput, Group as Row, Select, Stack, Table, Text } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Group } from "@/api/types";
import { useRefusal } from "@/me/may";
import { domainsChoiceQuery } from "@/queries/domains";
import { useSetWeights } from "@/queries/groups";
import { projectsChoiceQuery } from "@/queries/projects";
import { usersSearchQuery } from "@/queries/users";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { useUnsavedInput } from "@/ui/form/unsaved-input";
import { type Weight, type WeightKind, weightsOf, weightWords } from "./weights";

/** Fair-share weights in a resource group. */
export function WeightsForm({ group }: { group: Group }) {
  const { t } = useLingui();
  const set = useSetWeights();
  const refusal = useRefusal()("group.update");
  const [rows, setRows] = useState<Weight[]>(() => weightsOf(group));
  const changed = JSON.stringify(rows) !== JSON.stringify(weightsOf(group));
  useUnsavedInput(() => changed);
  const names: Record<WeightKind, string> = { domains: t`Domain`, projects: t`Project`, users: t`User` };
  return (
    <Form
      onSubmit={(event) => {
        event?.preventDefault();
        const of = (kind: WeightKind) =>
          Object.fromEntries(rows.filter((row) => row.kind === kind).map((row) => [row.id, row.weight]));
        set.mutate({ id: group.id, domains: of("domains"), projects: of("projects"), users: of("users") });
      }}
      submit={<Trans>Save</Trans>}
      blocked={refusal !== null || !changed}
      busy={set.isPending}
      problem={set.error}
      command={commandLine("carrel", "group", "weights", group.name, ...weightWords(weightsOf(group), rows))}
    >
      {group.scheduler !== "fair_share" && (
        <Alert color="gray" variant="light">
          <Trans>Weights apply only if the order of the group is Fair share.</Trans>
        </Alert>
      )}
      <Text size="sm">
        <Trans>
          Domains share the group, projects share the part of their domain, and users share the part of their
          project. The default weight is 1.
        </Trans>
      </Text>
      {rows.length > 0 && (
        <Table aria-label={t`Weights`} fz="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t({ context: "weight", message: "Who" })}</Table.Th>
              <Table.Th w="7rem">{t`Weight`}</Table.Th>
              <Table.Th w="3rem" aria-label={t`Actions`} />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={`${row.kind}:${row.id}`}>
                <Table.Th scope="row" style={{ overflowWrap: "anywhere" }}>
                  {row.label}
                  <Text size="xs" c="dimmed" fw={400}>
                    {names[row.kind]}
                  </Text>
                </Table.Th>
                <Table.Td>
                  <NumberInput
                    size="xs"
                    aria-label={t`Weight of ${row.label}`}
                    min={0.001}
                    max={1000}
                    clampBehavior="none"
                    decimalScale={3}
                    value={row.weight}
                    onChange={(weight) =>
                      setRows(rows.map((one) => (one === row ? { ...one, weight: Number(weight) } : one)))
                    }
                  />
                </Table.Td>
                <Table.Td>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label={t`Remove ${row.label}`}
                    onClick={() => setRows(rows.filter((one) => one !== row))}
                  >
                    <IconX size={15} aria-hidden />
                  </ActionIcon>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <AnotherWeight taken={rows} names={names} onAdd={(row) => setRows([...rows, { ...row, weight: 2 }])} />
    </Form>
  );
}

interface AnotherProps {
  taken: readonly Weight[];
  names: Record<WeightKind, string>;
  onAdd: (row: Omit<Weight, "weight">) => void;
}

function AnotherWeight({ taken, names, onAdd }: AnotherProps) {
  const { t } = useLingui();
  const [kind, setKind] = useState<WeightKind>("projects");
  const [written, setWritten] = useState("");
  const domains = useQuery(domainsChoiceQuery).data ?? [];
  const projects = useQuery(projectsChoiceQuery(undefined)).data ?? [];
  const users = useQuery({ ...usersSearchQuery(written), enabled: kind === "users" }).data ?? [];
  const offered = {
    domains: domains.map(({ id, name }) => ({ value: id, label: name })),
    projects: projects.map(({ id, name, domain }) => ({ value: id, label: `${name} (${domain.name})` })),
    users: users.map(({ id, email }) => ({ value: id, label: email })),
  }[kind].filter(({ value }) => !taken.some((row) => row.kind === kind && row.id === value));
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500}>
        <Trans>Add weight</Trans>
      </Text>
      <Row gap="xs" wrap="nowrap">
        <Select
          size="xs"
          w={120}
          aria-label={t`Kind`}
          allowDeselect={false}
          data={Object.entries(names).map(([value, label]) => ({ value, label }))}
          value={kind}
          onChange={(next) => next && setKind(next as WeightKind)}
        />
        <Select
          size="xs"
          style={{ flex: 1 }}
          aria-label={t({ context: "weight", message: "Who" })}
          placeholder={names[kind]}
          searchable
          nothingFoundMessage={t`Nothing found`}
          data={offered}
          value={null}
          searchValue={written}
          onSearchChange={setWritten}
          onChange={(id, option) => {
            if (!id || !option) return;
            onAdd({ kind, id, label: option.label });
            setWritten("");
          }}
        />
      </Row>
    </Stack>
  );
}
