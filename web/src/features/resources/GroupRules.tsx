import { Trans, useLingui } from "@lingui/react/macro";
import { Checkbox, Input, Group as Row, Select, TagsInput, Text, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { RIGHTS } from "@/features/policies/limit-words";
import { DurationInput } from "@/ui/form/DurationInput";
import type { GroupValues } from "./group-values";
import { NODE_LOSSES, ORDERS, PLACEMENTS, SESSION_KINDS } from "./group-words";

const AT_FIRST_S = 86_400;

/** Scheduling rules of a group: session types, order, placement and failure handling. */
export function GroupRules({ form }: { form: UseFormReturnType<GroupValues> }) {
  const { t, i18n } = useLingui();
  const { scheduler, placement, pending_timeout_s: timeout } = form.values;
  return (
    <>
      <Checkbox.Group label={t`Session types`} {...form.getInputProps("session_kinds")}>
        <Row gap="md" mt={6}>
          {Object.entries(SESSION_KINDS).map(([value, label]) => (
            <Checkbox key={value} size="xs" value={value} label={i18n._(label)} />
          ))}
        </Row>
      </Checkbox.Group>
      <Select
        label={t`Order`}
        description={i18n._(ORDERS[scheduler].text)}
        allowDeselect={false}
        data={Object.entries(ORDERS).map(([value, { title }]) => ({ value, label: i18n._(title) }))}
        {...form.getInputProps("scheduler")}
      />
      {scheduler === "fair_share" && (
        <DurationInput
          label={t`Usage half-life`}
          description={t`After this time, past usage counts half.`}
          value={form.values.half_life_s}
          error={form.errors.half_life_s}
          onChange={(seconds) => form.setFieldValue("half_life_s", seconds)}
        />
      )}
      <Select
        label={t`Placement`}
        description={i18n._(PLACEMENTS[placement].text)}
        allowDeselect={false}
        data={Object.entries(PLACEMENTS).map(([value, { title }]) => ({ value, label: i18n._(title) }))}
        {...form.getInputProps("placement")}
      />
      <TagsInput
        label={t`Slots for placement`}
        description={t`Nodes are compared by these slots in this order. If empty, by the scarcest slot.`}
        placeholder={form.values.slot_priority.length === 0 ? "cuda.device" : undefined}
        splitChars={[",", " "]}
        {...form.getInputProps("slot_priority")}
      />
      <Input.Wrapper
        label={t`Maximum pending time`}
        description={t`Sessions that are pending longer are cancelled.`}
        labelElement="div"
        error={form.errors.pending_timeout_s}
      >
        <Row gap="sm" mt={6} wrap="nowrap">
          <DurationInput
            label={t`Maximum pending time`}
            labelled
            disabled={timeout === null}
            placeholder={t`unlimited`}
            value={timeout ?? AT_FIRST_S}
            onChange={(seconds) => form.setFieldValue("pending_timeout_s", seconds)}
          />
          <Checkbox
            size="xs"
            label={t`unlimited`}
            checked={timeout === null}
            onChange={(event) =>
              form.setFieldValue("pending_timeout_s", event.currentTarget.checked ? null : AT_FIRST_S)
            }
          />
        </Row>
      </Input.Wrapper>
      <DurationInput
        label={t`Starvation limit`}
        description={t`How long smaller sessions can start before a session that waits for more resources. After that, its resources are reserved.`}
        value={form.values.patience_s}
        error={form.errors.patience_s}
        onChange={(seconds) => form.setFieldValue("patience_s", seconds)}
      />
      <Select
        label={t`On node failure`}
        description={t`The action for sessions on the node.`}
        allowDeselect={false}
        data={Object.entries(NODE_LOSSES).map(([value, title]) => ({ value, label: i18n._(title) }))}
        {...form.getInputProps("on_node_loss")}
      />
      <DurationInput
        label={t`Node failure time-out`}
        description={t`How long a node can be unreachable before the action is taken.`}
        value={form.values.node_loss_s}
        error={form.errors.node_loss_s}
        onChange={(seconds) => form.setFieldValue("node_loss_s", seconds)}
      />
      <Select
        label={t`Highest rights`}
        description={t`The most rights inside its sessions, if the policies of the keypair and the project allow them.`}
        allowDeselect={false}
        data={Object.entries(RIGHTS).map(([value, title]) => ({ value, label: i18n._(title) }))}
        {...form.getInputProps("max_rights")}
      />
      <TextInput
        label={t`App domain`}
        description={
          <Trans>The domain under which apps are served. If empty, the default of the site.</Trans>
        }
        placeholder="https://apps.example.org"
        {...form.getInputProps("app_address")}
      />
      <Text size="xs" c="dimmed">
        <Trans>Takes effect at the next scheduling decision. Running sessions are not affected.</Trans>
      </Text>
    </>
  );
}
