import { Trans, useLingui } from "@lingui/react/macro";
import { Checkbox, Input, Group as Row, Select, TagsInput, Text, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { DurationInput } from "@/ui/form/DurationInput";
import type { GroupValues } from "./group-values";
import { NODE_LOSSES, ORDERS, PLACEMENTS, SESSION_KINDS } from "./group-words";

const AT_FIRST_S = 86_400;

/** What a group takes, in which order, on which nodes, and what it does when things go wrong. */
export function GroupRules({ form }: { form: UseFormReturnType<GroupValues> }) {
  const { t, i18n } = useLingui();
  const { scheduler, placement, pending_timeout_s: timeout } = form.values;
  return (
    <>
      <Checkbox.Group label={t`Kinds of sessions`} {...form.getInputProps("session_kinds")}>
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
          label={t`Half-life of past use`}
          description={t`After so long, what somebody had counts half.`}
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
        label={t`Slots that decide`}
        description={t`By which nodes are compared, the first before the others. Empty: the scarcest.`}
        placeholder={form.values.slot_priority.length === 0 ? "cuda.device" : undefined}
        splitChars={[",", " "]}
        {...form.getInputProps("slot_priority")}
      />
      <Input.Wrapper
        label={t`Waits at most`}
        description={t`A session that waits longer is cancelled.`}
        labelElement="div"
        error={form.errors.pending_timeout_s}
      >
        <Row gap="sm" mt={6} wrap="nowrap">
          <DurationInput
            label={t`Waits at most`}
            labelled
            disabled={timeout === null}
            placeholder={t`for ever`}
            value={timeout ?? AT_FIRST_S}
            onChange={(seconds) => form.setFieldValue("pending_timeout_s", seconds)}
          />
          <Checkbox
            size="xs"
            label={t`for ever`}
            checked={timeout === null}
            onChange={(event) =>
              form.setFieldValue("pending_timeout_s", event.currentTarget.checked ? null : AT_FIRST_S)
            }
          />
        </Row>
      </Input.Wrapper>
      <DurationInput
        label={t`May be overtaken for`}
        description={t`So long may smaller sessions go before one that waits for more room. Then nothing starts before it.`}
        value={form.values.patience_s}
        error={form.errors.patience_s}
        onChange={(seconds) => form.setFieldValue("patience_s", seconds)}
      />
      <Select
        label={t`When a node is lost`}
        description={t`What becomes of the sessions on it.`}
        allowDeselect={false}
        data={Object.entries(NODE_LOSSES).map(([value, title]) => ({ value, label: i18n._(title) }))}
        {...form.getInputProps("on_node_loss")}
      />
      <DurationInput
        label={t`A node is lost after`}
        description={t`So long may it be missing before that is done.`}
        value={form.values.node_loss_s}
        error={form.errors.node_loss_s}
        onChange={(seconds) => form.setFieldValue("node_loss_s", seconds)}
      />
      <TextInput
        label={t`Address of apps`}
        description={<Trans>Where the apps of its sessions are reached. Empty: as everywhere.</Trans>}
        placeholder="https://apps.example.org"
        {...form.getInputProps("app_address")}
      />
      <Text size="xs" c="dimmed">
        <Trans>The scheduler goes by it from its next decision on. What runs goes on.</Trans>
      </Text>
    </>
  );
}
