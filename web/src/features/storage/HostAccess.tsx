import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, MultiSelect, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { StorageHost } from "@/api/types";
import { withNamed } from "@/features/resources/choice";
import { useRefusal } from "@/me/may";
import { domainsChoiceQuery } from "@/queries/domains";
import { useSetHostAccess } from "@/queries/hosts";
import { projectsChoiceQuery } from "@/queries/projects";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { useProblemForm } from "@/ui/form/use-problem-form";

type Values = { domains: string[]; projects: string[] };

/** Access list of a storage host that is not public. */
export function HostAccess({ host }: { host: StorageHost }) {
  const { t } = useLingui();
  const set = useSetHostAccess();
  const refusal = useRefusal()("storage_host.update");
  const { domains, projects } = host.access ?? { domains: [], projects: [] };
  const form = useProblemForm<Values>(
    { initialValues: { domains: domains.map(({ id }) => id), projects: projects.map(({ id }) => id) } },
    set.error,
  );
  const everyDomain = withNamed(useQuery(domainsChoiceQuery).data, domains, ({ name }) => name);
  const everyProject = withNamed(useQuery(projectsChoiceQuery(undefined)).data, projects, ({ name }) => name);
  const named = (choices: { value: string; label: string }[], id: string) =>
    choices.find(({ value }) => value === id)?.label ?? id;
  return (
    <Form
      onSubmit={form.onSubmit((values) =>
        set.mutate({ id: host.id, ...values }, { onSuccess: () => form.resetDirty(values) }),
      )}
      submit={<Trans>Save</Trans>}
      blocked={refusal !== null || !form.isDirty()}
      busy={set.isPending}
      problem={set.error}
      command={commandLine(
        "carrel",
        "storage-host",
        "access",
        host.name,
        ...form.values.domains.flatMap((id) => ["--domain", named(everyDomain, id)]),
        ...form.values.projects.flatMap((id) => ["--project", named(everyProject, id)]),
        ...(form.values.domains.length + form.values.projects.length === 0 ? ["--nobody"] : []),
      )}
    >
      <Title order={3} size="h6">
        <Trans>Access</Trans>
      </Title>
      {host.public && (
        <Alert color="gray" variant="light">
          <Trans>The host is public. This list applies only when it is not.</Trans>
        </Alert>
      )}
      <MultiSelect
        label={t`Domains`}
        description={t`All users of these domains.`}
        searchable
        nothingFoundMessage={t`Nothing found`}
        data={everyDomain}
        {...form.getInputProps("domains")}
      />
      <MultiSelect
        label={t`Projects`}
        description={t`Folders of these projects and their members.`}
        searchable
        nothingFoundMessage={t`Nothing found`}
        data={everyProject}
        {...form.getInputProps("projects")}
      />
    </Form>
  );
}
