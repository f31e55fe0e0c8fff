import { Trans, useLingui } from "@lingui/react/macro";
import { Fieldset, NumberInput, Select, Skeleton, Stack, TagsInput, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { NodeDetail, NodeUpdate, Slots } from "@/api/types";
import { groupsChoiceQuery } from "@/queries/groups";
import { nodesShowQuery, useUpdateNode } from "@/queries/nodes";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { SlotAmountInput } from "@/ui/form/SlotAmountInput";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { inSlotOrder, slotAmount, slotWord, useSlotName } from "@/ui/slots";
import { CUDA_LABEL, changedLabels, labelsOf, labelTexts, labelWords } from "./node-labels";

type Values = {
  group: string;
  cpu_overcommit: number;
  reserved: Record<string, number>;
  own_labels: string[];
  cuda: string;
};

/** Of the group: the node selectors choose it. */
const BY_LABELS = "";

interface Props {
  opened: boolean;
  id: string;
  onClose: () => void;
}

/** Edits a node: group, own labels, reserved resources, CPU overcommit. */
export function NodeFormDrawer({ opened, id, onClose }: Props) {
  const { t } = useLingui();
  const query = useQuery(nodesShowQuery(id));
  return (
    <FormDrawer
      opened={opened}
      onClose={onClose}
      size="lg"
      title={t`Edit ${query.data?.name ?? t`node`}`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {query.isPending && <Skeleton height={240} aria-busy />}
      {query.isError && <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />}
      {query.data && <NodeForm key={id} node={query.data} onDone={onClose} />}
    </FormDrawer>
  );
}

function NodeForm({ node, onDone }: { node: NodeDetail; onDone: () => void }) {
  const { t } = useLingui();
  const slotName = useSlotName();
  const update = useUpdateNode();
  const isMore = (kept: Slots, slot: string) => (kept[slot] ?? 0) > (node.slots[slot] ?? 0);
  const groups = useQuery(groupsChoiceQuery).data ?? [node.group];
  const form = useProblemForm<Values>(
    {
      initialValues: {
        group: groupOf(node),
        own_labels: labelTexts(without(node.own_labels)),
        cuda: node.own_labels[CUDA_LABEL] ?? "",
        cpu_overcommit: node.cpu_overcommit,
        reserved: { ...node.reserved },
      },
      validate: {
        cpu_overcommit: (times) => (times >= 1 && times <= 100 ? null : t`A number from 1 to 100.`),
        cuda: (version) => (/^(\d{1,3}\.\d{1,3})?$/.test(version.trim()) ? null : t`A version such as 12.4.`),
        reserved: (kept) => (Object.keys(kept).some((slot) => isMore(kept, slot)) ? true : null),
      },
    },
    update.error,
  );
  const changed = changedOf(node, form.values);
  const nothing = Object.keys(changed).length === 0;
  const group = groups.find(({ id }) => id === changed.group)?.name;
  return (
    <Form
      onSubmit={form.onSubmit(
        () => (nothing ? onDone() : update.mutate({ id: node.id, ...changed }, { onSuccess: onDone })),
        focusFirst(form),
      )}
      submit={nothing ? <Trans>Nothing changed</Trans> : <Trans>Save</Trans>}
      onCancel={onDone}
      busy={update.isPending}
      problem={update.error}
      command={nothing ? undefined : nodeCommand(node.name, group, changed)}
    >
      <Select
        label={t`Resource group`}
        description={t`Running sessions stay. The node then accepts sessions of the new group.`}
        allowDeselect={false}
        data={[
          { value: BY_LABELS, label: t`Automatic, by the node selectors of groups` },
          ...groups.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        {...form.getInputProps("group")}
      />
      <TagsInput
        label={t`Own labels`}
        description={t`In addition to those of the engine. Node selectors of resource groups use them.`}
        placeholder={form.values.own_labels.length === 0 ? "gpu=a100" : undefined}
        splitChars={[",", " "]}
        {...form.getInputProps("own_labels")}
      />
      {(Object.keys(node.slots).some((slot) => slot.startsWith("cuda.")) || form.values.cuda) && (
        <TextInput
          label={t`CUDA`}
          description={t`The newest that its NVIDIA driver supports. Empty: as its engine says.`}
          placeholder={node.machine.cuda || "12.4"}
          {...form.getInputProps("cuda")}
        />
      )}
      <NumberInput
        label={t`CPU overcommit factor`}
        description={t`With a factor above 1, more CPU is allocated than the node has. Sessions share it when all are busy.`}
        min={1}
        max={100}
        clampBehavior="none"
        step={0.5}
        decimalScale={2}
        {...form.getInputProps("cpu_overcommit")}
      />
      <Fieldset legend={t`Reserved`}>
        <Stack gap="xs">
          <Text size="xs" c="dimmed">
            <Trans>Not available to sessions. Existing allocations are not affected.</Trans>
          </Text>
          {inSlotOrder(Object.keys(node.slots)).map((slot) => (
            <SlotAmountInput
              key={slot}
              slot={slot}
              label={slotName(slot)}
              description={t`of ${slotAmount(slot, node.slots[slot] ?? 0)}`}
              max={node.slots[slot]}
              amount={form.values.reserved[slot] ?? 0}
              error={isMore(form.values.reserved, slot) && t`The node has less than this.`}
              onChange={(amount) => form.setFieldValue("reserved", kept(form.values.reserved, slot, amount))}
            />
          ))}
        </Stack>
      </Fieldset>
    </Form>
  );
}

/** The reservation with one slot changed; zero is the same as absent. */
function kept(reserved: Slots, slot: string, amount: number): Record<string, number> {
  const { [slot]: _, ...others } = reserved;
  return amount > 0 ? { ...others, [slot]: amount } : others;
}

/** Labels besides the one that has a field of its own. */
function without(labels: Readonly<Record<string, string>>): Record<string, string> {
  const { [CUDA_LABEL]: _, ...others } = labels;
  return others;
}

const groupOf = (node: NodeDetail) => (node.group_fixed ? node.group.id : BY_LABELS);

function changedOf(node: NodeDetail, now: Values): NodeUpdate {
  const sorted = (slots: Slots) =>
    JSON.stringify(
      Object.entries(slots)
        .filter(([, most]) => most > 0)
        .sort(),
    );
  const cuda = now.cuda.trim();
  const own = { ...labelsOf(now.own_labels), ...(cuda ? { [CUDA_LABEL]: cuda } : {}) };
  const labels = changedLabels(node.own_labels, own);
  return {
    ...(now.group === groupOf(node) ? {} : { group: now.group || null }),
    ...(Object.keys(labels).length === 0 ? {} : { own_labels: labels }),
    ...(now.cpu_overcommit === node.cpu_overcommit ? {} : { cpu_overcommit: now.cpu_overcommit }),
    ...(sorted(now.reserved) === sorted(node.reserved) ? {} : { reserved: now.reserved }),
  };
}

function nodeCommand(name: string, group: string | undefined, changed: NodeUpdate): string {
  const kept = Object.entries((changed.reserved ?? {}) as Slots);
  const labels = labelWords(changed.own_labels ?? {});
  const label = labels.length > 0 ? commandLine("carrel", "node", "label", name, ...labels) : "";
  if (Object.keys(changed).every((field) => field === "own_labels")) return label;
  const edit = commandLine(
    "carrel",
    "node",
    "edit",
    name,
    ...(changed.group === null ? ["--auto-group"] : group ? ["--group", group] : []),
    ...(changed.cpu_overcommit === undefined ? [] : ["--overcommit", String(changed.cpu_overcommit)]),
    ...kept.flatMap(([slot, amount]) => ["--reserve", slotWord(slot, amount)]),
    ...(changed.reserved && kept.length === 0 ? ["--no-reserve"] : []),
  );
  return label ? `${edit} && ${label}` : edit;
}
