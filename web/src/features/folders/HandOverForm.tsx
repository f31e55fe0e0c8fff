import { Trans, useLingui } from "@lingui/react/macro";
import { SegmentedControl, Select, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Folder } from "@/api/types";
import { useMe } from "@/me/use-me";
import { useHandOverFolder } from "@/queries/folders";
import { projectsChoiceQuery } from "@/queries/projects";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { focusFirst, useProblemForm } from "@/ui/form/use-problem-form";

type Values = { to: "user" | "project"; user: string; project: string };

/** Transfers a folder to a user or a project. */
export function HandOverForm({ folder, onDone }: { folder: Folder; onDone: () => void }) {
  const { t } = useLingui();
  const me = useMe();
  const give = useHandOverFolder();
  const form = useProblemForm<Values>(
    {
      initialValues: { to: "user", user: "", project: "" },
      validate: {
        user: (user, { to }) => (to === "user" && !user.includes("@") ? t`Enter an e-mail address.` : null),
        project: (project, { to }) => (to === "project" && !project ? t`Choose a project.` : null),
      },
    },
    give.error,
  );
  const { to, user, project } = form.values;
  const projects = (useQuery(projectsChoiceQuery(undefined)).data ?? me.projects).filter(
    ({ id }) => id !== folder.project?.id,
  );
  const projectName = projects.find(({ id }) => id === project)?.name ?? project;
  return (
    <Form
      onSubmit={form.onSubmit(
        () =>
          give.mutate(
            { id: folder.id, ...(to === "user" ? { user: user.trim() } : { project }) },
            { onSuccess: onDone },
          ),
        focusFirst(form),
      )}
      submit={<Trans>Transfer</Trans>}
      onCancel={onDone}
      busy={give.isPending}
      problem={give.error}
      command={commandLine(
        "carrel",
        "vfolder",
        "hand-over",
        folder.name,
        ...(to === "user" ? ["--user", user || "ada@example.org"] : ["--project", projectName || "vision"]),
      )}
    >
      <Text size="sm">
        <Trans>It then counts against the quota of the new owner, and you no longer own it.</Trans>
      </Text>
      <SegmentedControl
        aria-label={t`New owner`}
        data={[
          { value: "user", label: t`To a user` },
          { value: "project", label: t`To a project` },
        ]}
        {...form.getInputProps("to")}
      />
      {to === "user" ? (
        <TextInput
          label={t`E-mail`}
          withAsterisk
          type="email"
          autoComplete="off"
          data-autofocus
          {...form.getInputProps("user")}
        />
      ) : (
        <Select
          label={t`Project`}
          withAsterisk
          searchable
          data={projects.map((one) => ({ value: one.id, label: one.name }))}
          {...form.getInputProps("project")}
        />
      )}
    </Form>
  );
}
