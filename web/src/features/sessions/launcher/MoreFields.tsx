import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Collapse, Select, Stack, Switch, Text, Textarea } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Check } from "@/api/types";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { nodesAllQuery } from "@/queries/nodes";
import { useSessionText } from "@/sentences/use-session-text";
import { AfterRows } from "./AfterRows";
import { AlternativeGroups } from "./AlternativeGroups";
import { DiskField } from "./DiskField";
import { BLANK, type LaunchForm } from "./request";
import { EndFields, START_FIELDS, StartFields } from "./StartFields";
import { TimingFields } from "./TimingFields";

const FIELDS = [
  "description",
  "priority",
  "time_limit_s",
  "start_at",
  "node",
  "disk_bytes",
  ...START_FIELDS,
] as const;
type Fields = Pick<
  LaunchForm,
  (typeof FIELDS)[number] | "after" | "on_dependency_failure" | "rights" | "alternative_groups"
>;

interface Props {
  values: Fields;
  /** Id of the resource group whose nodes are offered. */
  group: string;
  /** Its name. */
  preferred: string;
  /** Names of all groups that the user may use. */
  groups: string[];
  /** Why a session cannot have root inside; empty if it can. */
  rootRefused: string | undefined;
  disk: Check["disk"] | undefined;
  /** The error of each field. */
  errors: { [Field in keyof Fields]?: React.ReactNode };
  onChange: (part: Partial<Fields & Pick<LaunchForm, "group">>) => void;
}

/**
 * Advanced options: when it runs, what is in it, and how it ends; the node for users who may choose it.
 */
export function MoreFields({ values, group, preferred, groups, rootRefused, disk, errors, onChange }: Props) {
  const { t } = useLingui();
  const given =
    values.rights === "root" ||
    values.after.length > 0 ||
    values.alternative_groups.length > 0 ||
    FIELDS.some((field) => values[field] !== BLANK[field]);
  const [opened, { toggle }] = useDisclosure(given);
  const faulty = errors.after || errors.rights || errors.alternative_groups;
  const shown = opened || !!faulty || FIELDS.some((field) => errors[field]);
  const mayChoose = may(useMe(), "session.designate");
  const Fold = shown ? IconChevronDown : IconChevronRight;
  return (
    <div>
      <Button
        size="compact-xs"
        variant="subtle"
        leftSection={<Fold size={14} aria-hidden />}
        aria-expanded={shown}
        onClick={toggle}
      >
        <Trans>More options</Trans>
      </Button>
      <Collapse expanded={shown}>
        <Stack gap="lg" mt="xs">
          <Textarea
            label={t`Description`}
            description={t`Optional. What it is for, such as "nightly training".`}
            size="xs"
            autosize
            maxLength={500}
            value={values.description}
            error={errors.description}
            onChange={(event) => onChange({ description: event.currentTarget.value })}
          />
          <Section title={t`When it runs`}>
            <TimingFields values={values} errors={errors} onChange={onChange} />
            <AfterRows
              rows={values.after}
              onFailure={values.on_dependency_failure}
              error={errors.after}
              onChange={onChange}
            />
            <AlternativeGroups
              groups={groups.filter((name) => name !== preferred)}
              value={values.alternative_groups}
              error={errors.alternative_groups}
              onChange={(names) => onChange({ group: preferred, alternative_groups: names })}
            />
            {mayChoose && (
              <NodeChoice group={group} value={values.node} onChange={(node) => onChange({ node })} />
            )}
          </Section>
          <Section title={t`What is in it`}>
            <DiskField
              value={values.disk_bytes}
              range={disk}
              error={errors.disk_bytes}
              onChange={(bytes) => onChange({ disk_bytes: bytes })}
            />
            <StartFields values={values} errors={errors} onChange={onChange} />
            <RootSwitch
              value={values.rights}
              refused={rootRefused}
              error={errors.rights}
              onChange={onChange}
            />
          </Section>
          <Section title={t`How it ends`}>
            <EndFields values={values} errors={errors} onChange={onChange} />
          </Section>
        </Stack>
      </Collapse>
    </div>
  );
}

interface RootProps {
  value: LaunchForm["rights"];
  refused: string | undefined;
  error: React.ReactNode;
  onChange: (part: Pick<LaunchForm, "rights">) => void;
}

/** Root inside, with the reason where it is not available. It can always be switched off. */
function RootSwitch({ value, refused = "", error, onChange }: RootProps) {
  const { t } = useLingui();
  const { reason } = useSessionText();
  const on = value === "root";
  return (
    <Switch
      size="xs"
      label={t`Root inside`}
      description={
        refused ? reason(refused) : t`sudo and package managers such as apt-get work in the session.`
      }
      disabled={!!refused && !on}
      checked={on}
      error={error}
      onChange={(event) => onChange({ rights: event.currentTarget.checked ? "root" : "plain" })}
    />
  );
}

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <Stack gap="md" component="section" aria-label={title}>
      <Text size="xs" fw={600} c="dimmed">
        {title}
      </Text>
      {children}
    </Stack>
  );
}

interface NodeProps {
  group: string;
  value: string;
  onChange: (node: string) => void;
}

function NodeChoice({ group, value, onChange }: NodeProps) {
  const { t } = useLingui();
  const nodes = useQuery(nodesAllQuery({ group })).data ?? [];
  const names = nodes.map(({ name }) => name);
  return (
    <Select
      label={t`Node`}
      description={t`The session starts only on this node. If empty, the scheduler chooses one.`}
      size="xs"
      clearable
      searchable
      clearButtonProps={{ "aria-label": t`Any node` }}
      data={value && !names.includes(value) ? [...names, value] : names}
      value={value || null}
      onChange={(node) => onChange(node ?? "")}
    />
  );
}
