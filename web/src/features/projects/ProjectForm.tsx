import { Trans, useLingui } from "@lingui/react/macro";
import { Select, Skeleton, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { WholeProject } from "@/api/types";
import { useMe } from "@/me/use-me";
import { domainsChoiceQuery } from "@/queries/domains";
import { projectsShowQuery, useCreateProject, useUpdateProject } from "@/queries/projects";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { FormDrawer } from "@/ui/form/FormDrawer";
import type { SlotLimit } from "@/ui/form/SlotLimitsInput";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { CeilingsInput } from "./CeilingsInput";
import { CeilingsOver } from "./CeilingsOver";
import { ceilingRows, ceilingsOf, ceilingWords } from "./ceilings";

type Values = { name: string; domain: string; description: string; ceilings: SlotLimit[] };

interface DrawerProps {
  opened: boolean;
  /** Id of the project to edit; absent for a new one. */
  id?: string;
  onClose: () => void;
}

/** Creates or edits a project. */
export function ProjectFormDrawer({ opened, id, onClose }: DrawerProps) {
  const { t } = useLingui();
  const query = useQuery({ ...projectsShowQuery(id ?? ""), enabled: id !== undefined });
  return (
    <FormDrawer
      opened={opened}
      onClose={onClose}
      size="lg"
      title={id ? t`Edit ${query.data?.name ?? t`project`}` : t`New project`}
      closeButtonProps={{ "aria-label": t`Close` }}
    >
      {id === undefined ? (
        <ProjectForm project={undefined} onDone={onClose} />
      ) : query.data ? (
        <ProjectForm key={id} project={query.data} onDone={onClose} />
      ) : query.isError ? (
        <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton height={240} aria-busy />
      )}
    </FormDrawer>
  );
}

function ProjectForm({ project, onDone }: { project: WholeProject | undefined; onDone: () => void }) {
  const { t } = useLingui();
  const me = useMe();
  const create = useCreateProject();
  const update = useUpdateProject();
  const domains = useQuery(domainsChoiceQuery).data ?? [];
  const sent = project ? update : create;
  const form = useProblemForm<Values>(
    {
      initialValues: {
        name: project?.name ?? "",
        domain: project?.domain.id ?? me.user.domain.id,
        description: project?.description ?? "",
        ceilings: ceilingRows(project?.ceilings ?? {}),
      },
      validate: {
        name: (name) => (name.trim() === "" ? t`Enter a name.` : null),
        ceilings: (rows) =>
          rows.some(({ slot }) => slot === "") ? t`Enter a slot name, or remove the row.` : null,
      },
    },
    sent.error,
  );
  const { name, domain, description } = form.values;
  const ceilings = ceilingsOf(form.values.ceilings);
  const save = form.onSubmit(() => {
    const done = { onSuccess: onDone };
    if (!project) return create.mutate({ name, domain, description, ceilings }, done);
    update.mutate({ id: project.id, ...changedOf(project, { name, description, ceilings }) }, done);
  }, focusFirst(form));
  return (
    <Form
      onSubmit={save}
      submit={project ? <Trans>Save</Trans> : <Trans>Create</Trans>}
      onCancel={onDone}
      busy={sent.isPending}
      problem={sent.error}
      command={commandLine(
        "carrel",
        "project",
        ...(project ? ["update", project.name, "--name"] : ["create"]),
        name || "vision",
        ...(!project && domains.length > 1
          ? ["--domain", domains.find(({ id }) => id === domain)?.name ?? domain]
          : []),
        ...(description ? ["--description", description] : []),
        ...ceilingWords(ceilings),
        ...(project && Object.keys(ceilings).length === 0 ? ["--no-ceilings"] : []),
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
      {!project && (
        <Select
          label={t`Domain`}
          allowDeselect={false}
          disabled={domains.length < 2}
          data={domains.map((one) => ({ value: one.id, label: one.name }))}
          {...form.getInputProps("domain")}
        />
      )}
      <Textarea
        label={t`Description`}
        autosize
        minRows={2}
        maxLength={500}
        {...form.getInputProps("description")}
      />
      <CeilingsInput
        rows={form.values.ceilings}
        error={form.errors.ceilings}
        onChange={(rows) => form.setFieldValue("ceilings", rows)}
      />
      {project && (
        <CeilingsOver
          scope="project"
          id={project.id}
          ceilings={ceilings}
          isComplete={form.values.ceilings.every(({ slot }) => slot !== "")}
        />
      )}
    </Form>
  );
}

/** The values that differ from the project. */
function changedOf(project: WholeProject, now: Pick<WholeProject, "name" | "description" | "ceilings">) {
  return Object.fromEntries(
    (["name", "description", "ceilings"] as const)
      .filter((key) => JSON.stringify(project[key]) !== JSON.stringify(now[key]))
      .map((key) => [key, now[key]]),
  );
}
