import { Trans, useLingui } from "@lingui/react/macro";
import { Select, Skeleton, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Group } from "@/api/types";
import { groupsShowQuery, useCreateGroup, useUpdateGroup } from "@/queries/groups";
import { Form } from "@/ui/form/Form";
import { FormDrawer } from "@/ui/form/FormDrawer";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { ElasticFields } from "./ElasticFields";
import { GroupRules } from "./GroupRules";
import { changedGroup, type GroupValues, groupCommand, groupRequest, groupValuesOf } from "./group-values";
import { SelectedNodes } from "./SelectedNodes";
import { LEAST_TIERS } from "./share-words";

interface Props {
  opened: boolean;
  /** Id of the group to edit; absent for a new one. */
  id?: string;
  onClose: () => void;
  onMade?: (group: Group) => void;
}

/** Creates or edits a resource group. */
export function GroupFormDrawer({ opened, id, onClose, onMade }: Props) {
  const { t } = useLingui();
  const query = useQuery({ ...groupsShowQuery(id ?? ""), enabled: id !== undefined });
  return (
    <FormDrawer
      opened={opened}
      onClose={onClose}
      size="lg"
      title={id ? t`Edit ${query.data?.name ?? t`resource group`}` : t`New resource group`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {id === undefined ? (
        <GroupForm group={undefined} onDone={onClose} onMade={onMade} />
      ) : query.data ? (
        <GroupForm key={id} group={query.data} onDone={onClose} />
      ) : query.isError ? (
        <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton height={320} aria-busy />
      )}
    </FormDrawer>
  );
}

interface FormProps {
  group: Group | undefined;
  onDone: () => void;
  onMade?: (group: Group) => void;
}

function GroupForm({ group, onDone, onMade }: FormProps) {
  const { t, i18n } = useLingui();
  const create = useCreateGroup();
  const update = useUpdateGroup();
  const sent = group ? update : create;
  const form = useProblemForm<GroupValues>(
    {
      initialValues: groupValuesOf(group),
      validate: {
        name: (name) => (name.trim() === "" ? t`Enter a name.` : null),
        session_kinds: (kinds) => (kinds.length === 0 ? t`Select at least one.` : null),
      },
    },
    sent.error,
  );
  const request = groupRequest(form.values);
  const changed = group ? changedGroup(group, request) : request;
  const nothing = group !== undefined && Object.keys(changed).length === 0;
  const selector = form.values.node_selector.trim();
  const save = form.onSubmit(() => {
    if (!group) return create.mutate(request, { onSuccess: onMade ?? onDone });
    if (nothing) return onDone();
    update.mutate({ id: group.id, ...changed }, { onSuccess: onDone });
  }, focusFirst(form));
  return (
    <Form
      onSubmit={save}
      submit={nothing ? <Trans>Nothing changed</Trans> : group ? <Trans>Save</Trans> : <Trans>Create</Trans>}
      onCancel={onDone}
      busy={sent.isPending}
      problem={sent.error}
      command={nothing ? undefined : groupCommand(group, changed)}
    >
      <TextInput
        label={t`Name`}
        withAsterisk
        maxLength={64}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps("name")}
      />
      <Textarea
        label={t`Description`}
        description={t`What the nodes are suited for. Shown when users choose a group.`}
        autosize
        minRows={2}
        maxLength={500}
        {...form.getInputProps("description")}
      />
      <Switch
        label={t`Active`}
        description={t`If off, the group accepts no new sessions. Pending and running sessions are not affected.`}
        {...form.getInputProps("active", { type: "checkbox" })}
      />
      <Switch
        label={t`Public`}
        description={t`If on, all users whose domain has access can use the group. If off, only the listed domains, projects and users can.`}
        {...form.getInputProps("public", { type: "checkbox" })}
      />
      <TextInput
        label={t`Node selector`}
        description={t`Nodes with these labels join by themselves, unless an administrator chose their group. If several groups select a node, the first by name gets it.`}
        placeholder="zone=eu-1,gpu in (a100,h100),!spot"
        spellCheck={false}
        autoComplete="off"
        maxLength={1000}
        {...form.getInputProps("node_selector")}
      />
      {selector && <SelectedNodes selector={selector} name={form.values.name.trim()} />}
      <TagsInput
        label={t`Required capabilities`}
        description={t`Nodes of the group without them take no new sessions.`}
        placeholder={form.values.required_capabilities.length === 0 ? "network-policy" : undefined}
        splitChars={[",", " "]}
        {...form.getInputProps("required_capabilities")}
      />
      <Select
        label={t`Enforced shares of GPUs`}
        description={t`What nodes must limit of sessions that share a GPU. Other nodes of the group take no new sessions with shares.`}
        allowDeselect={false}
        data={Object.entries(LEAST_TIERS).map(([value, title]) => ({ value, label: i18n._(title) }))}
        {...form.getInputProps("min_share_tier")}
      />
      <TagsInput
        label={t`Topology`}
        description={t`Labels of nodes, from narrow to wide. Cluster sessions that are placed together share the narrowest one that has room; others spread over different ones.`}
        placeholder={form.values.topology.length === 0 ? "rack, topology.kubernetes.io/zone" : undefined}
        splitChars={[",", " "]}
        {...form.getInputProps("topology")}
      />
      <TextInput
        label={t`Container runtime`}
        description={t`Of its sessions: a RuntimeClass of a Kubernetes cluster or a runtime of a Docker daemon. Nodes of the group without it take no new sessions. Empty: the usual one.`}
        placeholder="gvisor"
        spellCheck={false}
        autoComplete="off"
        maxLength={63}
        {...form.getInputProps("runtime")}
      />
      <ElasticFields form={form} />
      <GroupRules form={form} />
    </Form>
  );
}
