import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Input, Group as Row, Select, Stack, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Preset } from "@/api/types";
import { groupsChoiceQuery } from "@/queries/groups";
import { useCreatePreset, useUpdatePreset } from "@/queries/presets";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { SlotAmountInput } from "@/ui/form/SlotAmountInput";
import { SlotNameInput } from "@/ui/form/SlotNameInput";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { inSlotOrder, slotUnit, slotWord } from "@/ui/slots";

type Amount = { slot: string; amount: number };
/** group: id; empty for all groups. */
type Values = { name: string; group: string; slots: Amount[] };

interface Props {
  opened: boolean;
  /** The preset to edit; absent for a new one. */
  preset: Preset | undefined;
  onClose: () => void;
}

/** Creates or edits a preset. */
export function PresetFormDrawer({ opened, preset, onClose }: Props) {
  const { t } = useLingui();
  return (
    <FormDrawer
      opened={opened}
      onClose={onClose}
      size="lg"
      title={preset ? t`Edit ${preset.name}` : t`New preset`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      <PresetForm key={preset?.id} preset={preset} onDone={onClose} />
    </FormDrawer>
  );
}

const FRESH: Amount[] = [
  { slot: "cpu", amount: 2000 },
  { slot: "mem", amount: 4 * 2 ** 30 },
];

function PresetForm({ preset, onDone }: { preset: Preset | undefined; onDone: () => void }) {
  const { t } = useLingui();
  const create = useCreatePreset();
  const update = useUpdatePreset();
  const sent = preset ? update : create;
  const groups = useQuery(groupsChoiceQuery).data ?? [];
  const form = useProblemForm<Values>(
    {
      initialValues: {
        name: preset?.name ?? "",
        group: preset?.group?.id ?? "",
        slots: preset
          ? inSlotOrder(Object.keys(preset.slots)).map((slot) => ({ slot, amount: preset.slots[slot] ?? 0 }))
          : FRESH,
      },
      validate: {
        name: (name) => (name.trim() === "" ? t`Enter a name.` : null),
        slots: (rows) =>
          rows.some(({ slot, amount }) => slot === "" || amount < 1)
            ? t`Enter a slot name and an amount, or remove the row.`
            : rows.length === 0
              ? t`Add at least one slot.`
              : null,
      },
    },
    sent.error,
  );
  const { name, group } = form.values;
  const slots = Object.fromEntries(form.values.slots.map(({ slot, amount }) => [slot, amount]));
  const save = form.onSubmit(() => {
    const done = { onSuccess: onDone };
    const request = { name, group: group || null, slots };
    if (preset) update.mutate({ id: preset.id, ...request }, done);
    else create.mutate(request, done);
  }, focusFirst(form));
  const groupName = groups.find(({ id }) => id === group)?.name;
  return (
    <Form
      onSubmit={save}
      submit={preset ? <Trans>Save</Trans> : <Trans>Create</Trans>}
      onCancel={onDone}
      busy={sent.isPending}
      problem={sent.error}
      command={commandLine(
        "carrel",
        "preset",
        ...(preset ? ["edit", preset.id, "--name"] : ["create"]),
        name || "small",
        ...(groupName ? ["--group", groupName] : preset?.group ? ["--everywhere"] : []),
        ...form.values.slots.flatMap(({ slot, amount }) => (slot ? ["--slot", slotWord(slot, amount)] : [])),
      )}
    >
      <TextInput
        label={t`Name`}
        withAsterisk
        maxLength={64}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps("name")}
      />
      <Select
        label={t`Offered in`}
        description={t`The launcher offers the preset for sessions in this group.`}
        allowDeselect={false}
        data={[
          { value: "", label: t`all groups` },
          ...groups.map(({ id, name: label }) => ({ value: id, label })),
        ]}
        {...form.getInputProps("group")}
      />
      <SlotRows
        rows={form.values.slots}
        error={form.errors.slots}
        onChange={(rows) => form.setFieldValue("slots", rows)}
      />
    </Form>
  );
}

interface RowsProps {
  rows: Amount[];
  error: React.ReactNode;
  onChange: (rows: Amount[]) => void;
}

function SlotRows({ rows, error, onChange }: RowsProps) {
  const { t } = useLingui();
  const set = (at: number, part: Partial<Amount>) =>
    onChange(rows.map((row, index) => (index === at ? { ...row, ...part } : row)));
  return (
    <Input.Wrapper
      label={t`Slots`}
      description={t`The slots of a session with this preset.`}
      labelElement="div"
      error={error}
    >
      <Stack gap="xs" mt={6}>
        {rows.map(({ slot, amount }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no id while their slot is edited
          <Row key={at} gap="sm" wrap="nowrap">
            <SlotNameInput
              value={slot}
              taken={rows.map((row) => row.slot)}
              onChange={(next) => set(at, { slot: next })}
            />
            <SlotAmountInput
              slot={slot}
              aria-label={t`Amount of ${slot}`}
              amount={amount}
              onChange={(next) => set(at, { amount: next })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t`Remove ${slot}`}
              onClick={() => onChange(rows.filter((_, index) => index !== at))}
            >
              <IconX size={15} aria-hidden />
            </ActionIcon>
          </Row>
        ))}
        <Row>
          <Button
            size="compact-xs"
            variant="subtle"
            leftSection={<IconPlus size={13} aria-hidden />}
            onClick={() => onChange([...rows, { slot: "", amount: slotUnit("") }])}
          >
            <Trans>Add slot</Trans>
          </Button>
        </Row>
      </Stack>
    </Input.Wrapper>
  );
}
